#!/usr/bin/env python3
"""Tests of tools/common: the table of networks."""
import unittest

from common.engines import PEERS
from common.models import cases


class Networks(unittest.TestCase):
    def test_names_lead_back_to_their_cases(self):
        for network in cases.NETWORKS:
            standard = [cases.standard(network, precision) for precision in network.precisions]
            for case in (*standard, *cases.variants(network)):
                self.assertEqual(cases.case_named(case.name), case)

    def test_shapes(self):
        shapes = {name: cases.case_named(name).shape for name in
                  ("inception_v3", "resnet50-192px-b8", "tf_mobilenetv2-w0.75", "bert_base_128-b2")}
        self.assertEqual(list(shapes.values()), [(1, 3, 299, 299), (8, 3, 192, 192), (1, 224, 224, 3), (2, 128)])

    def test_bad_names_are_refused(self):
        for name in ("resnet51", "resnet50-", "resnet50-100px", "vgg16-192px", "resnet50-w0.75", "bert_base_128-256px",
                     "resnet50-b0", ""):
            with self.assertRaises(ValueError, msg=name):
                cases.case_named(name)

    def test_select(self):
        def names(*arguments, **options):
            return [case.name for case in cases.select(*arguments, **options)]
        self.assertEqual(names([]), [network.name for network in cases.NETWORKS if "fp32" in network.precisions])
        self.assertEqual(names(["vgg16", "vgg16"]), ["vgg16"])
        self.assertEqual(names(["resnet18"], "192", 4), ["resnet18-192px-b4"])
        self.assertEqual(names([], "width0.75"), ["mobilenet_v2-w0.75", "tf_mobilenetv2-w0.75"])
        self.assertEqual(names(["resnet50"], with_variants=True),
                         ["resnet50", "resnet50-b8", "resnet50-b32", "resnet50-192px", "resnet50-256px"])
        with self.assertRaises(ValueError):
            names(["vgg16"], "256")

    def test_every_peer_has_a_format_or_a_reason(self):
        for case in (*cases.select([], with_variants=True), *cases.select([], precision="int8")):
            for peer in PEERS.values():
                supposed = cases.refusal(case, peer.name) is None
                self.assertTrue(not supposed or set(peer.formats) & set(case.formats), (case.name, peer.name))


if __name__ == "__main__":
    unittest.main()
