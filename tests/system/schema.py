"""As much of JSON Schema as our OpenAPI document uses; a word it does not know is an error, so that
nothing is taken for checked that is not."""
import re

from laud import expect

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
IGNORED = {"description", "format"}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


class Schemas:
    def __init__(self, document):
        self.named = document["components"]["schemas"]

    def check(self, value, schema, where="$"):
        for word, rule in schema.items():
            if word not in IGNORED:
                getattr(self, "check_" + word.lstrip("$"))(value, rule, where, schema)

    def check_ref(self, value, rule, where, _):
        prefix, name = rule.rsplit("/", 1)
        expect(prefix == "#/components/schemas", f"{where}: {rule}")
        self.check(value, self.named[name], where)

    def check_type(self, value, rule, where, _):
        names = rule if isinstance(rule, list) else [rule]
        expect(any(is_type(value, name) for name in names), f"{where}: {value!r} is not {rule}")

    def check_required(self, value, rule, where, _):
        if isinstance(value, dict):
            expect(all(name in value for name in rule), f"{where}: {value!r} lacks one of {rule}")

    def check_properties(self, value, rule, where, _):
        for name, schema in rule.items() if isinstance(value, dict) else ():
            if name in value:
                self.check(value[name], schema, f"{where}.{name}")

    def check_additionalProperties(self, value, rule, where, schema):
        for name in set(value) - set(schema.get("properties", {})):
            expect(rule is not False, f"{where}: {name} should not be there")
            self.check(value[name], rule, f"{where}.{name}")

    def check_items(self, value, rule, where, _):
        for i, entry in enumerate(value if isinstance(value, list) else []):
            self.check(entry, rule, f"{where}[{i}]")

    def check_enum(self, value, rule, where, _):
        expect(value in rule, f"{where}: {value!r} is not one of {rule}")

    def check_pattern(self, value, rule, where, _):
        expect(not isinstance(value, str) or re.search(rule, value),
               f"{where}: {value!r} does not match {rule}")

    def check_minimum(self, value, rule, where, _):
        expect(value >= rule, f"{where}: {value} < {rule}")

    def check_maximum(self, value, rule, where, _):
        expect(value <= rule, f"{where}: {value} > {rule}")

    def check_minLength(self, value, rule, where, _):
        expect(len(value) >= rule, f"{where}: shorter than {rule}")

    def check_maxLength(self, value, rule, where, _):
        expect(len(value) <= rule, f"{where}: longer than {rule}")

    def check_minItems(self, value, rule, where, _):
        expect(len(value) >= rule, f"{where}: fewer than {rule}")

    def check_maxItems(self, value, rule, where, _):
        expect(len(value) <= rule, f"{where}: more than {rule}")
