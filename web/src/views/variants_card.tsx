// The ways in which a network was quantized: how fast each is and what it loses.
import { fileAddress } from '../api/client';
import { bytes, count, factor, latency, percent } from '../format';
import type { QuantizationResult, Variant } from '../quantization_facts';
import { Badge, Card, WideTable } from '../ui/parts';

function Row({ job, variant, isBest }: { job: string; variant: Variant; isBest: boolean }) {
  const { name, error, judgedLoss, file } = variant;
  if (error !== '')
    return (
      <tr>
        <th scope="row">{name}</th>
        <td colSpan={6}>
          <span class="bad">{error}</span>
        </td>
      </tr>
    );
  return (
    <tr>
      <th scope="row">
        {name} {isBest && <Badge state="best" />}
      </th>
      <td class="number strong">{latency(variant.ms)}</td>
      <td class="number">
        {factor(variant.speedup)}
        <span class="config">
          {factor(variant.speedupLow)} to {factor(variant.speedupHigh)}
        </span>
      </td>
      <td class="number">{percent(variant.drop)}</td>
      <td class="number">{judgedLoss === null ? '–' : `${percent(judgedLoss)} of ${count(variant.judgedSamples)}`}</td>
      <td class="number">{bytes(variant.bytes)}</td>
      <td>
        {file !== '' && (
          <a href={fileAddress(job, file)} download={file.replace(/^.*\//, '')} aria-label={`Download ${name}`}>
            Download
          </a>
        )}
      </td>
    </tr>
  );
}

export function VariantsCard({ job, result }: { job: string; result: QuantizationResult }) {
  return (
    <Card title="Ways to quantize" hint={`Beside f32${result.baselineMs > 0 ? `, which takes ${latency(result.baselineMs)}` : ''}; the loss is the share of samples with another result.`}>
      <WideTable label="Ways to quantize">
        <thead>
          <tr>
            <th scope="col">Calibration</th>
            <th scope="col" class="number">Latency</th>
            <th scope="col" class="number">Faster</th>
            <th scope="col" class="number">Loss</th>
            <th scope="col" class="number">Loss as judged</th>
            <th scope="col" class="number">Size</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {result.variants.map((variant) => (
            <Row key={variant.name} job={job} variant={variant} isBest={variant.name === result.best} />
          ))}
        </tbody>
      </WideTable>
    </Card>
  );
}
