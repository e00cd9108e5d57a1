"""The wide set. If a network would take long, its dimensions are reduced: the kinds of its kernels stay."""
from bench.wide.networks import WideNetwork


def classifier(name, pixels=224, dynamo=False, **options):
    """A classifier of torchvision by its name there."""
    return WideNetwork(name, "classifiers.classifier", {"constructor": name, "pixels": pixels, **options}, dynamo)


def clip(name, **options):
    return WideNetwork(name, "classifiers.clip", {"constructor": name, **options})


CLASSIFIERS = (
    classifier("alexnet"),
    classifier("squeezenet1_0"),
    classifier("resnet34"),
    classifier("wide_resnet50_2", pixels=128),
    classifier("resnext50_32x4d"),
    classifier("densenet169", pixels=160),
    classifier("googlenet", init_weights=False),
    classifier("inception_v3", pixels=299, init_weights=False),
    classifier("mobilenet_v2"),
    classifier("mobilenet_v3_small"),
    classifier("mobilenet_v3_large"),
    classifier("mnasnet0_5"),
    classifier("mnasnet1_0"),
    classifier("shufflenet_v2_x0_5"),
    classifier("shufflenet_v2_x1_0"),
    classifier("efficientnet_b1", pixels=240),
    classifier("efficientnet_v2_s"),
    classifier("regnet_x_400mf"),
    classifier("regnet_x_1_6gf"),
    classifier("regnet_y_400mf"),
    classifier("regnet_y_1_6gf"),
    classifier("vgg11_bn"),
    classifier("convnext_tiny"),
    classifier("vit_b_32"),
    classifier("swin_t"),
    classifier("swin_v2_t", pixels=256),
    classifier("maxvit_t"),
    clip("r3d_18"),
    clip("mc3_18"),
    clip("r2plus1d_18"),
    clip("s3d", frames=16, pixels=224),
    clip("swin3d_t", pixels=112),
    WideNetwork("mvit_v2", "classifiers.mvit", dynamo=True),  # tracing turns it into loops
)


def of(file, name, function=None, dynamo=False, weights="", **arguments):
    """A network made by a function of this file; by default the function has the network's name."""
    return WideNetwork(name, f"{file}.{function or name}", arguments, dynamo, weights)


DETECTORS = (
    of("detectors", "fcn_resnet50", "segmentation", constructor="fcn_resnet50"),
    of("detectors", "deeplabv3_resnet50", "segmentation", constructor="deeplabv3_resnet50"),
    of("detectors", "deeplabv3_mobilenet_v3", "segmentation", constructor="deeplabv3_mobilenet_v3_large"),
    of("detectors", "lraspp_mobilenet_v3", "segmentation", constructor="lraspp_mobilenet_v3_large"),
    of("detectors", "ssd300_vgg16", "detector", constructor="ssd300_vgg16", pixels=300),
    of("detectors", "ssdlite320_mobilenet_v3", "detector", constructor="ssdlite320_mobilenet_v3_large", pixels=320),
    of("detectors", "retinanet_resnet50_fpn", "detector", constructor="retinanet_resnet50_fpn", pixels=128),
    of("detectors", "retinanet_v2_resnet50_fpn", "detector", constructor="retinanet_resnet50_fpn_v2", pixels=128),
    of("detectors", "fcos_resnet50_fpn", "detector", constructor="fcos_resnet50_fpn", pixels=128),
    of("detectors", "fasterrcnn_mobilenet_v3", "proposals", constructor="fasterrcnn_mobilenet_v3_large_320_fpn"),
)

LANGUAGE = (
    of("language", "bert", "text", model="BertModel", config="BertConfig"),
    of("language", "bert_batch_8", "text", model="BertModel", config="BertConfig", tokens=32, batch=8),
    of("language", "bert_base", "bert_base"),
    of("language", "bert_base_u8", "bert_base", weights="u8"),
    of("language", "bert_base_s8", "bert_base", weights="s8"),
    of("language", "distilbert", "text", model="DistilBertModel", config="DistilBertConfig"),
    of("language", "roberta", "text", model="RobertaModel", config="RobertaConfig"),
    of("language", "albert", "text", model="AlbertModel", config="AlbertConfig"),
    of("language", "electra", "text", model="ElectraModel", config="ElectraConfig"),
    of("language", "mobilebert", "text", model="MobileBertModel", config="MobileBertConfig"),
    of("language", "deberta", "text", model="DebertaModel", config="DebertaConfig", relative_attention=True,
       pos_att_type="c2p|p2c"),
    of("language", "deberta_v2", "text", model="DebertaV2Model", config="DebertaV2Config", relative_attention=True,
       pos_att_type="c2p|p2c"),
    of("language", "modernbert", "text", model="ModernBertModel", config="ModernBertConfig", pad_token_id=0,
       bos_token_id=1, eos_token_id=2, cls_token_id=3, sep_token_id=4),
    of("language", "t5_encoder", "text", model="T5EncoderModel", config="T5Config"),
    of("language", "gpt2", "text", model="GPT2LMHeadModel", config="GPT2Config"),
    of("language", "gpt2_step", "decoder", model="GPT2LMHeadModel", config="GPT2Config", n_positions=2048),
    of("language", "opt", "text", model="OPTForCausalLM", config="OPTConfig"),
    of("language", "llama", "text", model="LlamaForCausalLM", config="LlamaConfig", num_key_value_heads=2),
    of("language", "llama_step", "decoder", model="LlamaForCausalLM", config="LlamaConfig", num_key_value_heads=2,
       key_heads=2),
    of("language", "gpt_neox", "text", model="GPTNeoXForCausalLM", config="GPTNeoXConfig"),
    of("language", "qwen2", "text", model="Qwen2ForCausalLM", config="Qwen2Config", num_key_value_heads=2),
    of("language", "bart", "translator", model="BartModel", config="BartConfig", d_model=256, encoder_layers=3,
       decoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=1024,
       decoder_ffn_dim=1024),
)

IMAGES = (
    of("images", "clip_vision", "image", model="CLIPVisionModel", config="CLIPVisionConfig", num_hidden_layers=4),
    of("images", "clip_text"),
    of("images", "segformer_b0", "image", model="SegformerForSemanticSegmentation", config="SegformerConfig"),
    of("images", "swin_hf", "image", model="SwinModel", config="SwinConfig", depths=[2, 2, 2, 2], embed_dim=48,
       num_heads=[2, 4, 8, 16]),
    of("images", "detr"),
    of("images", "yolos", "image", model="YolosForObjectDetection", config="YolosConfig", pixels=192,
       outputs=("logits", "pred_boxes"), hidden_size=192, num_hidden_layers=6, num_attention_heads=3,
       intermediate_size=768, image_size=[192, 192], num_detection_tokens=50),
    of("images", "deit_tiny", "image", model="DeiTModel", config="DeiTConfig", hidden_size=192,
       num_attention_heads=3, intermediate_size=768),
    of("images", "beit_tiny", "image", model="BeitModel", config="BeitConfig", hidden_size=192,
       num_attention_heads=3, intermediate_size=768, use_relative_position_bias=True),
    of("images", "dinov2", "image", model="Dinov2Model", config="Dinov2Config", hidden_size=192,
       num_hidden_layers=6, num_attention_heads=3),
    of("images", "mobilevit", "image", model="MobileViTModel", config="MobileViTConfig", pixels=256),
    of("images", "convnextv2", "image", model="ConvNextV2Model", config="ConvNextV2Config",
       hidden_sizes=[40, 80, 160, 320], depths=[2, 2, 6, 2]),
    of("images", "poolformer", "image", model="PoolFormerModel", config="PoolFormerConfig"),
    of("images", "levit", "image", model="LevitModel", config="LevitConfig"),
    of("images", "dpt"),
)

AUDIO = (
    of("audio", "whisper"),
    of("audio", "wav2vec2", "speech", model="Wav2Vec2Model", config="Wav2Vec2Config"),
    of("audio", "hubert", "speech", model="HubertModel", config="HubertConfig"),
    of("audio", "spectrogram_transformer", "spectrogram"),
    of("audio", "wavenet"),
    of("audio", "tcn"),
    of("audio", "conv_tasnet"),
    of("audio", "demucs"),
)

GENERATORS = (
    of("generators", "unet"),
    of("generators", "diffusion_convolutions"),
    of("generators", "diffusion_attention"),
    of("generators", "espcn"),
    of("generators", "edsr"),
    of("generators", "srgan"),
    of("generators", "dcgan"),
    of("generators", "stylegan"),
    of("generators", "style_transfer"),
)

OTHERS = (
    of("others", "dlrm"),
    of("others", "tabular"),
    of("others", "lstm_tagger", "tagger", cell="LSTM"),
    of("others", "gru_tagger", "tagger", cell="GRU"),
    of("others", "lstm_step", "streaming"),
    of("others", "graph"),
    of("others", "pointnet"),
    of("others", "mixer"),
    of("others", "conv3d", "volumes"),
    of("others", "depthwise7", "depthwise"),
    of("others", "softmax1000", "softmax"),
    of("others", "patches"),
    of("classifiers", "resnet18_u8", "classifier", weights="u8", constructor="resnet18", pixels=128),
    of("classifiers", "resnet18_s8", "classifier", weights="s8", constructor="resnet18", pixels=128),
)

NETWORKS = [*CLASSIFIERS, *DETECTORS, *LANGUAGE, *IMAGES, *AUDIO, *GENERATORS, *OTHERS]
