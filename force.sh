P=/tmp/w/dev/build/release/bin/attune; cd /work/main/build/tuning/models
for r in 1 2; do
for v in 256,2,1,7,1,2,7 256,2,7,7,1,2,7 256,2,7,7,0,2,7 256,2,7,7,1,1,7 256,2,7,7,0,1,7 256,2,7,7,1,4,7 256,4,1,4,1,2,4 256,4,4,4,1,2,8 256,4,4,4,1,4,4 128,4,1,7,1,2,7 128,4,7,7,1,2,7 128,4,7,7,0,2,7 128,4,7,7,1,1,7 128,2,2,14,1,2,14 64,4,1,14,0,2,14 64,4,2,14,0,2,14 64,4,14,14,1,2,14; do for m in resnet50; do for t in 1 2; do
 o="/tmp/w/f.atn"; W_FORCE=$v $P compile $m.onnx --records none --threads $t -o "$o" >/dev/null
 $P profile "$o" --threads $t --rounds 6 --json - | python3 -c "
import json,sys
k=json.load(sys.stdin)['kernels']; ch='$v'.split(',')[0]
for x in k:
  if 'winograd' in x['strategy'] and {'256':'layer3','128':'layer2','64':'layer1'}[ch] in x['labels'][0]: print($t,'   ',x['labels'][0],x['strategy'][14:],'%.3f'%x['ms'],'%.3f'%x['roofline_ms'])"
done; done; done; done
