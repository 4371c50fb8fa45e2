"""The rules of the protocol. Each can be taken out of the model by name, and the model then has to find a violation."""

RULES = {name: "" for name in """gate waitall cas generation salt resend order fromi raisestored pairs rebuild idspast
openfilter notes notek needk needsalt fillk tokens trimstored keepi pin
needorder evidence shelfnotes cleancover cleanforward boards deadline waitmoving pinned trimconn stopfirst fence
restorereach fillsalt foldstate orderwait""".split()}


class Rules:
    __slots__ = tuple(RULES)

    def __init__(self, without=()):
        for name in RULES:
            setattr(self, name, name not in without)
