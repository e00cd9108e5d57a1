"""Good and bad sentences of each rule."""
import unittest

from prose import rules
from prose.sources import Passage

BAD = {
    "opener": [
        "Of the images, two are old.",
        "Of what will run.",
        "What is left is what will run.",
        "Returns it. What it says is checked.",
        "Whoever asks gets it.",
        "Those that wait are sorted.",
        "Those of the tenant, by name.",
        "Those who ask first win.",
        "That the server listens at in its container.",
        "That of the system, whatever x does.",
        "That a job fails is no error.",
        "That one inference is to run on.",
        "(Of one tenant alone.)",
    ],
    "pronoun": ["The user signs with his key.", "He may come back.", "A token is given to him."],
    "so": ["Waits at most so long.", "Returns so many rows.", "It waits so long as it must.", "a pilot without work for so long ends"],
    "begin": ["Seeks the begin of the file.", "The job's begin is stored.", "in the order of their begin", "From begin to end.",
              "Its begin and end differ."],
    "go-on": ["The job goes on.", "Uploads go on where they broke off.", "It has gone on.", "It went on.", "going on with run 3"],
    "kept": ["It is bounded, as what is kept of it.", "The folder is what the engine keeps.", "It reads what was kept."],
    "nobody": ["An upload that nobody needs.", "It is given to somebody else.", "It asks whoever is there."],
    "word": ["It fits into the first-level cache.", "A loop of other blocks.", "The weight preparation is slow.", "An overlapping split.",
             "Both are timed in turns.", "It is surely faster.", "This is luck.", "It learns from lessons.", "The result is no number.",
             "A convolution by tiles.", "Buries the worker.", "It foresees the time.", "The outlook of a job.", "The desk hands it out.",
             "The gate lets in a caller.", "Pardons the caller."],
}

GOOD = {
    "opener": [
        "Of course it is.",
        "Of these 22, three are slower.",
        "Of the 60 networks, 50 are faster.",
        "What is wrong?",
        "That is why it waits.",
        "That takes a second.",
        "That machine's job fails.",
        "Those devices wait.",
        "Those two are equal.",
        "It tells what it does.",
        "Often it waits.",
        "Whatever it says is checked.",
    ],
    "pronoun": ["Users sign with their keys.", "Weights are drawn as by He et al.", "The header says it."],
    "so": ["It has so many rows that it waits.", "So far it waits.", "It is so named.", "It waits as long as it must."],
    "begin": ["Jobs begin at once.", "It is ready to begin.", "The job begins and ends.", "the iterator `begin`", "operand 'begin' and size"],
    "go-on": ["The values go on the stack.", "Anyone can see what is going on.", "It continues on another machine."],
    "kept": ["It is kept.", "It tells what it has."],
    "nobody": ["The body of the request.", "Anybody may read it."],
    "word": ["It fits into L1.", "The value is not a number.", "There is no number of rows.", "the device `desk/cpu`",
             "It turns in a second.", "Markov chains cool."],
}


def broken(sentence, **kinds):
    return {one.rule for one in rules.findings(Passage("src/base/a.h", 1, sentence, **kinds))}


class Rules(unittest.TestCase):
    def test_bad_sentences_are_found(self):
        for rule, sentences in BAD.items():
            for sentence in sentences:
                with self.subTest(rule=rule, sentence=sentence):
                    self.assertIn(rule, broken(sentence))

    def test_good_sentences_are_not(self):
        for rule, sentences in GOOD.items():
            for sentence in sentences:
                with self.subTest(rule=rule, sentence=sentence):
                    self.assertNotIn(rule, broken(sentence))

    def test_each_rule_is_explained_and_has_sentences(self):
        named = {"opener", *(rule for rule, _, _ in rules.PATTERNS)}
        self.assertEqual(named, BAD.keys())
        self.assertEqual(named, GOOD.keys())
        for rule in named:
            self.assertRegex(rules.__doc__, rf"(?m)^{rule} ")

    def test_code_is_no_prose(self):
        self.assertEqual(broken("Calls `what is kept` and 'nobody'."), set())

    def test_headings_may_ask_without_a_mark(self):
        self.assertEqual(broken("What it costs", is_heading=True), set())
        self.assertEqual(broken("What it costs and what it gains by and by", is_heading=True), {"opener"})
        self.assertEqual(broken("Of what it is made", is_heading=True), {"opener"})

    def test_labels_are_headings_too(self):
        label = Passage("web/src/views/a.tsx", 1, "What to do", is_message=True, is_public=True)
        self.assertEqual(list(rules.findings(label)), [])
        sentence = Passage("web/src/views/a.tsx", 1, "What came out.", is_message=True, is_public=True)
        self.assertEqual([one.rule for one in rules.findings(sentence)], ["opener"])

    def test_messages_may_open_with_a_small_letter(self):
        self.assertEqual(broken("what a run may cost", is_message=True, is_public=True), {"opener"})
        self.assertEqual(broken("what a run may cost"), set())
        self.assertEqual(broken("of peak", is_message=True, is_public=True), set())

    def test_pieces_of_messages_continue_them(self):
        self.assertEqual(broken("of the archive is damaged", is_message=True, is_public=True), {"opener"})
        self.assertEqual(broken("of the archive is damaged", is_message=True, is_public=True, is_piece=True), set())

    def test_a_finding_says_where_and_what_to_say(self):
        found = list(rules.findings(Passage("src/base/a.h", 7, "It works. Somebody goes on.")))
        self.assertEqual([(one.rule, one.sentence, one.found) for one in found],
                         [("go-on", "Somebody goes on.", "goes on"), ("nobody", "Somebody goes on.", "Somebody")])
        self.assertTrue(str(found[0]).startswith("src/base/a.h:7: go-on: "), str(found[0]))
        self.assertIn("resume", str(found[0]))


if __name__ == "__main__":
    unittest.main()
