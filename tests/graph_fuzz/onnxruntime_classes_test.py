"""Tests of the table of classes: graphs whose differences have a known class, and one whose difference has none."""
import unittest

import onnxruntime_classes as classes


def graph(op, inputs, kind="f32[4]", attrs=None, **more):
    node = {"op": op, "value": "v0", "inputs": inputs, "type": kind, "attrs": attrs or {}, "what": "1, expected 2",
            **more}
    return {"seed": 1, "differs": {"plain": {"y0": {"what": "1, expected 2"}}}, "node": node}


def name_of(found):
    row = classes.find(found)
    return row and row.name


class Classes(unittest.TestCase):
    def test_only_u8_times_i8_saturates(self):
        self.assertEqual(name_of(graph("matmul_integer", ["u8[2,4]", "i8[4,3]"], "i32[2,3]")), "u8 times i8 saturates")
        self.assertEqual(name_of(graph("conv_integer", ["i8[1,4,8]", "u8[3,4,1]"], "i32[1,3,8]")),
                         "u8 times i8 saturates")
        self.assertIsNone(name_of(graph("matmul_integer", ["u8[2,4]", "u8[4,3]"], "i32[2,3]")))

    def test_casts_are_open_beyond_the_range_alone(self):
        outside = "cast of what the integer type has not"
        self.assertEqual(name_of(graph("cast", ["f32[4]"], "u8[4]", operand=-1.5)), outside)
        self.assertEqual(name_of(graph("cast", ["f32[4]"], "i8[4]", operand=128.0)), outside)
        self.assertEqual(name_of(graph("cast", ["f32[4]"], "i32[4]", operand=float("nan"))), outside)
        self.assertIsNone(name_of(graph("cast", ["f32[4]"], "u8[4]", operand=-0.5)))
        self.assertIsNone(name_of(graph("cast", ["f32[4]"], "i8[4]", operand=127.5)))

    def test_lengths_are_rounded_where_they_are_not_whole(self):
        def resize(scales):
            return graph("resize", ["f32[1,2,7,1]"], "f32[1,2,3,1]",
                         {"coordinate_mode": "align_corners", "scales": scales})
        self.assertEqual(name_of(resize([1.0, 1.0, 0.5, 1.0])), "resize of a rounded length")
        self.assertIsNone(name_of(resize([1.0, 1.0, 3.0, 1.0])))
        # The f32 next to 3/7: 3 in f32, and a little more exactly.
        self.assertIsNone(name_of(resize([1.0, 1.0, 0.4285714328289032, 1.0])))

    def test_regions_are_ignored_where_the_scale_is_one(self):
        def resize(scale, end):
            return graph("resize", ["f32[1,1,4,8]"], "f32[1,1,4,8]",
                         {"coordinate_mode": "tf_crop_and_resize", "scales": [1.0, 1.0, 2.0, scale],
                          "roi": [0.0, 0.0, 0.25, 0.0, 1.0, 1.0, 0.75, end]})
        self.assertEqual(name_of(resize(1.0, 0.5)), "resize of a region without a scale")
        self.assertIsNone(name_of(resize(1.0, 1.0)))
        self.assertIsNone(name_of(resize(2.0, 0.5)))

    def test_products_saturate_at_the_ends_of_the_range(self):
        product = "integer product beyond range"
        self.assertEqual(name_of(graph("reduce_prod", ["i32[4]"], "i32[]", actual=-2.0 ** 31)), product)
        self.assertEqual(name_of(graph("reduce_prod", ["i32[4]"], "i32[]", actual=2.0 ** 31 - 1)), product)
        self.assertIsNone(name_of(graph("reduce_prod", ["i32[4]"], "i32[]", actual=5.0)))

    def test_columns_of_one_dimension_are_wrong_where_they_are_dilated(self):
        def col2im(image, dilations):
            return graph("col2im", ["f32[2,16,3]"], "f32[2,4,7]", {"image": image, "dilations": dilations})
        self.assertEqual(name_of(col2im([7], [2])), "col2im of dilated rows")
        self.assertIsNone(name_of(col2im([7], [1])))
        self.assertIsNone(name_of(col2im([7, 7], [2, 2])))

    def test_a_bf16_scalar_alone_gets_an_axis(self):
        self.assertEqual(name_of(graph("is_nan", ["bf16[]"], "bool[]")), "is_nan of a bf16 scalar")
        self.assertIsNone(name_of(graph("is_nan", ["bf16[2]"], "bool[2]")))

    def test_single_numbers_are_normalized_to_the_bias(self):
        def group_norm(shape, groups):
            return graph("group_norm", [f"f32[{shape}]", "f32[16]", "f32[16]"], f"f32[{shape}]", {"groups": groups})
        self.assertEqual(name_of(group_norm("2,16,1", 16)), "normalization of single numbers")
        self.assertIsNone(name_of(group_norm("2,16,1", 8)))
        self.assertIsNone(name_of(group_norm("2,16,3", 16)))

    def test_a_crash_is_known_by_the_optimizer_without_which_there_is_none(self):
        crash = {"crash": "signal 11", "optimizer": "NchwcTransformer", "pairs": ["transpose matmul"], "differs": {}}
        self.assertEqual(name_of(crash), "transposition fused into a product")
        self.assertIsNone(name_of({**crash, "pairs": ["transpose conv"]}))
        self.assertIsNone(name_of({**crash, "optimizer": "ConvBNFusion"}))
        self.assertIsNone(name_of({**crash, "differs": {"plain": {"y0": {"what": "1, expected 2"}}}}))

    def test_what_no_row_holds_is_described(self):
        unknown = graph("tanh", ["f32[4]"])
        self.assertIsNone(name_of(unknown))
        self.assertIn("tanh v0 (f32[4])", classes.describe(unknown))
        self.assertIn("signal 11", classes.describe({"crash": "signal 11"}))

    def test_names_of_rows_differ(self):
        self.assertEqual(len({row.name for row in classes.ROWS}), len(classes.ROWS))


if __name__ == "__main__":
    unittest.main()
