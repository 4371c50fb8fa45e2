"""The rules of the protocol. Each can be taken out of the model by name, and the model then finds a violation.

`fault` is the fault under which the absence of the rule shows, and `schedule` the first schedule of seed 1 in which it
does; tests/system/test_model runs exactly that schedule. After a change of the model these numbers are found anew by
`tests/model/run --table`.
"""
from collections import namedtuple

Rule = namedtuple("Rule", "text fault schedule")

RULES = {
    # deciding
    "notes": Rule("a reaction that was cleared leaves a note until that is stored", "none", 0),
    "notek": Rule("a note counts only while its id is greater than K", "failover", 1),
    "needk": Rule("an answer of the store counts only if K is not past its position", "p-restore", 2),
    "needsalt": Rule("an answer of the store counts only if J holds its position with its salt, in the same "
                     "generation", "p-restore-older-file", 566),
    "evidence": Rule("an answer of the store counts only for the kinds that were asked for", "none", 2),
    "needorder": Rule("after NEED, later operations of that user in the batch are not decided", "none", 0),
    "shelfnotes": Rule("a new shelf is complete only if no note of it is waiting to be stored", "none", 1),
    "openfilter": Rule("the filter is open after p was lost", "p-lost", 0),
    "pinned": Rule("what is not stored is not dropped from shelves and hashes", "none", 0),
    "deadline": Rule("a write that was sent too long ago is refused", "late", 2),
    "tokens": Rule("after a new generation, an unknown token is asked for in the store", "q-lost", 141),
    # transfer and store
    "gate": Rule("only what the replicas have is sent and stored", "failover", 0),
    "waitall": Rule("WAIT asks for all configured replicas", "two-replicas", 0),
    "waitmoving": Rule("WAIT does not count while the slot is being migrated", "migrate", 0),
    "cas": Rule("guards and positions change by compare-and-set", "stall", 0),
    "generation": Rule("every compare-and-set compares the generation", "p-lost", 60),
    "salt": Rule("every entry has a salt, and positions are compared with it", "q-older-file", 0),
    "resend": Rule("p sends again what follows the guard, whatever it sent before", "failover", 0),
    "order": Rule("p stores an entry only after every concerned q has taken it in", "p-lost", 5),
    "orderwait": Rule("q has taken an entry in only if the replicas of q have it", "p-lost", 6),
    "foldstate": Rule("a fold keeps the final state also where the count does not change", "p-lost", 9),
    # clean, fill, trim
    "cleanforward": Rule("clean never takes K back", "late", 171),
    "cleancover": Rule("clean brings the count of every item that the window touches", "stall", 2),
    "boards": Rule("boards get absolute counts, and start from the store after q was lost", "q-lost", 0),
    "fillk": Rule("a partial hash is completed only if K is the position of the answer", "none", 0),
    "fillsalt": Rule("a hash is filled only if I holds the position of the answer with its salt, in the same "
                     "generation", "q-restore-older-file", 95),
    "trimstored": Rule("J is trimmed only below what every concerned q has stored", "q-older-file", 13),
    "keepi": Rule("I keeps an entry until its p has stored it", "p-lost", 3),
    "trimconn": Rule("a trim counts only on a connection that was made before its positions were read",
                     "p-restore-older-file", 207),
    # recovery
    "fence": Rule("a recovery first closes the partition in Redis under its generation, and opens only that one",
                  "p-lost", 0),
    "closenumber": Rule("a recovery closes an open partition only if Redis has the number of the database with which "
                        "the stream was compared", "q-restore-older-file", 129),
    "behind": Rule("a database that is behind what was trimmed, or behind the generation of Redis, is a divergence too",
                   "q-restore-older-file", 9),
    "fromi": Rule("a lost p copies from I before it takes writes", "p-lost", 3),
    "raisestored": Rule("the recovery of p waits until every q has stored the raised guard", "p-lost,q-lost", 2),
    "pairs": Rule("relation keeps a guard for each q, and the copy starts there", "p-lost,q-lost", 4),
    "rebuild": Rule("where I does not reach back, the pair (p, q) is rebuilt from by_item", "p-lost,q-lost", 4),
    "idspast": Rule("the ids of a new generation start past all guards", "p-lost", 9),
    "pin": Rule("a restore gives the database a new number, and a trim has to name the one that Redis has",
                "q-restore", 116),
    "stopfirst": Rule("a database is stopped before the stream is pinned", "q-restore-older-file", 15),
    "restorereach": Rule("the database of q is restored only if every J holds the guard that q has",
                         "q-restore-older-file", 18),
}


class Rules:
    """Which rules hold: one attribute for each rule."""
    __slots__ = tuple(RULES)

    def __init__(self, without=()):
        for name in RULES:
            setattr(self, name, name not in without)
