#!/usr/bin/env python3
"""Holds what `ovir check` writes for programs to the schemas that are published for it.

  validate.py --ovir OVIR --json SCHEMA --sarif SCHEMA --reshapeable SCHEMA MODEL.xml...

Each model is checked with --format json and --format sarif, and some again under names that a URI must escape; what is
without a fault also with --reshapeable. What a schema cannot say is asked as well: both formats tell of the same faults
at the same places, and the places lie in the file. First of all, documents that are wrong on purpose must be refused.
"""
import argparse
import base64
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

from jsonschema import validators

URI_REFERENCE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?([A-Za-z0-9._~!$&'()*+,;=:@/?#\[\]-]|%[0-9A-Fa-f]{2})*")
ODD_NAMES = ["two words.xml", "100%41.xml", "modèle:½.xml", "#?&;.xml", os.fsdecode(b"latin\xe9.xml")]


def closed(schema):
    """The schema without room for members that it does not describe: readers must bear them, this build has none."""
    if isinstance(schema, list):
        return [closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(value) for key, value in schema.items()}
    if out.get("type") == "object" and "properties" in out:
        out.setdefault("additionalProperties", False)
    return out


class Schema:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            schema = closed(json.load(file))
        kind = validators.validator_for(schema)
        kind.check_schema(schema)
        self.validator = kind(schema)

    def violations(self, document):
        for error in self.validator.iter_errors(document):
            yield "/" + "/".join(str(step) for step in error.absolute_path) + ": " + error.message[:300]


def check(ovir, form, model, folder, *more):
    """`more`: other models and flags."""
    command = [ovir, "check", model, *more, "--format", form]
    run = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
    if run.returncode not in (0, 3, 4, 7):
        raise ValueError(f"exit code {run.returncode}: {run.stderr.decode(errors='replace')}")
    return json.loads(run.stdout)


def several_faults(together, alone):
    """`together`: the documents of several models in one; `alone`: those of each."""
    if together["json"].get("models") != [documents["json"] for documents in alone]:
        yield "json is not the documents of the models"
    if together["json"].get("ok") != all(documents["json"]["ok"] for documents in alone):
        yield "\"ok\" does not agree with the models"
    results = [result["message"] for documents in alone for result in documents["sarif"]["runs"][0]["results"]]
    if [result["message"] for result in together["sarif"]["runs"][0]["results"]] != results:
        yield "sarif has other results than the models"


def path_of(uri, folder):
    """What a reader of the SARIF file makes of a URI."""
    if not URI_REFERENCE.fullmatch(uri):
        raise ValueError(f"no URI reference: {uri}")
    parts = urllib.parse.urlsplit(uri)
    if parts.scheme not in ("", "file") or parts.netloc or parts.query or parts.fragment:
        raise ValueError(f"not the path of a file: {uri}")
    return os.path.join(os.fsencode(folder), urllib.parse.unquote_to_bytes(parts.path))


def place_faults(artifact, region, folder, lines_of):
    """The region must lie in the file, and its end not before its begin."""
    path = path_of(artifact["uri"], folder)
    if "byteOffset" in region:
        if region["byteOffset"] + region["byteLength"] > os.path.getsize(path):
            yield f"bytes {region} are outside the file"
        return
    if path not in lines_of:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines_of[path] = file.read().split("\n")
    begin = (region["startLine"], region["startColumn"])
    end = (region.get("endLine", begin[0]), region["endColumn"])
    for line, column in (begin, end):
        if line > len(lines_of[path]) or column > len(lines_of[path][line - 1]) + 1:
            yield f"line {line}, column {column} is outside the file"
    if end < begin:
        yield f"{end} comes before {begin}"


def disagreements(document, sarif, folder):
    """What neither schema can say."""
    run, lines_of = sarif["runs"][0], {}
    if len(run["results"]) != len(document["diagnostics"]):
        yield f"{len(run['results'])} results, {len(document['diagnostics'])} diagnostics"
    for number, (result, said) in enumerate(zip(run["results"], document["diagnostics"])):
        at = f"result {number}: "
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        if result["ruleId"] != said["code"] or rule["id"] != said["code"]:
            yield at + f"rule {result['ruleId']}, code {said['code']}"
        place = result["locations"][0]["physicalLocation"]
        path = path_of(place["artifactLocation"]["uri"], folder).decode("utf-8", errors="replace")
        if path != os.path.join(folder, said["file"]) and "\ufffd" not in path:
            yield at + f"{path} is not {said['file']}"
        region = place.get("region", {})
        if [region.get("startLine"), region.get("startColumn")] != [said.get("line"), said.get("column")]:
            yield at + "another place than in json"
        locations = result["locations"] + result.get("relatedLocations", [])
        places = [location["physicalLocation"] for location in locations]
        changes = [change for fix in result.get("fixes", []) for change in fix["artifactChanges"]]
        regions = [(place["artifactLocation"], place.get("region")) for place in places]
        regions += [(change["artifactLocation"], replacement["deletedRegion"])
                    for change in changes for replacement in change["replacements"]]
        if len(said.get("fix", [])) != sum(len(change["replacements"]) for change in changes):
            yield at + "another fix than in json"
        for replacement in (one for change in changes for one in change["replacements"]):
            binary = replacement["insertedContent"].get("binary")
            if binary is not None and len(base64.b64decode(binary)) != replacement["deletedRegion"]["byteLength"]:
                yield at + "other bytes than it replaces"
        for artifact, region in regions:
            if region:
                yield from (at + fault for fault in place_faults(artifact, region, folder, lines_of))


def wrong_documents(document, sarif):
    """(what is wrong, which format, the document)."""
    def edited(base, edit):
        out = copy.deepcopy(base)
        edit(out)
        return out

    result = lambda log: log["runs"][0]["results"][0]
    place = lambda log: result(log)["locations"][0]["physicalLocation"]
    yield "no version", "sarif", edited(sarif, lambda log: log.pop("version"))
    yield "no tool", "sarif", edited(sarif, lambda log: log["runs"][0].pop("tool"))
    yield "a level that is none", "sarif", edited(sarif, lambda log: result(log).update(level="fatal"))
    yield "line 0", "sarif", edited(sarif, lambda log: place(log)["region"].update(startLine=0))
    yield "a message that is no object", "sarif", edited(sarif, lambda log: result(log).update(message="text"))
    yield "a fix without changes", "sarif", edited(sarif, lambda log: result(log).update(fixes=[{}]))
    yield "an unknown member", "sarif", edited(sarif, lambda log: result(log).update(colour="red"))
    yield "another schema's number", "json", edited(document, lambda out: out.update(schema=2))
    yield "a code that is none", "json", edited(document, lambda out: out["diagnostics"][0].update(code="E5"))
    yield "an unknown member", "json", edited(document, lambda out: out["diagnostics"][0].update(colour="red"))
    yield "several models, and none", "json", {"schema": 1, "ok": True, "models": []}
    yield "several models, and one without a tool", "json", {
        "schema": 1, "ok": True, "models": [edited(document, lambda out: out.pop("tool"))]}
    yield "no notes", "json", edited(document, lambda out: out["diagnostics"][0].pop("notes"))


def main():
    parser = argparse.ArgumentParser()
    for name in ("--ovir", "--json", "--sarif", "--reshapeable"):
        parser.add_argument(name, required=True)
    parser.add_argument("models", nargs="+")
    given = parser.parse_args()
    schemas = {"json": Schema(given.json), "sarif": Schema(given.sarif)}
    reshapeable = Schema(given.reshapeable)
    faults, judged, refused = 0, 0, 0

    def say(what, fault):
        nonlocal faults
        faults += 1
        print(f"{what}: {fault}".encode("utf-8", errors="replace").decode())

    def judge(model, folder):
        nonlocal judged, refused
        documents = {form: check(given.ovir, form, model, folder) for form in schemas}
        for form, document in documents.items():
            for violation in schemas[form].violations(document):
                say(f"{model}, {form}", violation)
            judged += 1
        if documents["json"]["ok"]:
            for violation in reshapeable.violations(check(given.ovir, "json", model, folder, "--reshapeable")):
                say(f"{model}, --reshapeable", violation)
            judged += 1
        for fault in disagreements(documents["json"], documents["sarif"], folder):
            say(model, fault)
        places = [result["locations"][0]["physicalLocation"] for result in documents["sarif"]["runs"][0]["results"]]
        if refused == 0 and places and "region" in places[0]:
            for what, form, document in wrong_documents(documents["json"], documents["sarif"]):
                refused += 1
                if not any(schemas[form].violations(document)):
                    say("the validator", f"{what} in {form} is not noticed")
        return documents

    def judge_together(models, folder, alone):
        nonlocal judged
        together = {form: check(given.ovir, form, models[0], folder, *models[1:]) for form in schemas}
        for form, document in together.items():
            for violation in schemas[form].violations(document):
                say(f"several models, {form}", violation)
            judged += 1
        for fault in several_faults(together, alone):
            say("several models", fault)

    with tempfile.TemporaryDirectory() as folder:
        alone = [judge(model, folder) for model in given.models]
        judge_together(given.models, folder, alone)
        faulty = next(model for model in given.models if os.path.basename(model) == "several.xml")
        with open(faulty, "rb") as file:
            text = file.read()
        for name in ODD_NAMES:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text)
            for model in (name, "./" + name, os.path.join(folder, name)):
                judge(model, folder)
    if refused == 0:
        say("the validator", "was tried on no wrong document")
    print(f"{judged} documents of {len(given.models)} models judged, {refused} wrong ones refused, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
