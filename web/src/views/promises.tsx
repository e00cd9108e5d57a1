// Promises: what is asked for, how likely it is, or whether it was kept, and why one thinks so.
import { percent } from '../format';
import { quantityOf, rangeText, type PromiseOfJob } from '../agreement';
import { Badge, Meter, WideTable } from '../ui/parts';

function Row({ promise }: { promise: PromiseOfJob }) {
  const { name, show } = quantityOf(promise.name);
  const isKnown = promise.state === 'met' || promise.state === 'broken';
  return (
    <tr>
      <th scope="row">
        {name}
        {promise.evidence.length > 0 && (
          <details class="evidence">
            <summary>Why</summary>
            <ul>
              {promise.evidence.map((sentence, i) => (
                <li key={i}>{sentence}</li>
              ))}
            </ul>
          </details>
        )}
      </th>
      <td class="number">at most {show(promise.limit)}</td>
      <td>
        <Badge state={promise.state} />
      </td>
      <td class="number">
        {isKnown || promise.state === 'unknown' ? '–' : percent(promise.probability)}
        {!isKnown && <Meter share={promise.probability} tone={promise.probability >= 0.8 ? 'good' : 'bad'} />}
      </td>
      <td class="number">{rangeText(promise)}</td>
    </tr>
  );
}

export function PromiseTable({ promises }: { promises: readonly PromiseOfJob[] }) {
  return (
    <WideTable label="Promises">
      <thead>
        <tr>
          <th scope="col">Promise</th>
          <th scope="col" class="number">Limit</th>
          <th scope="col">State</th>
          <th scope="col" class="number">Probability</th>
          <th scope="col" class="number">Predicted or measured</th>
        </tr>
      </thead>
      <tbody>
        {promises.map((promise) => (
          <Row key={promise.name} promise={promise} />
        ))}
      </tbody>
    </WideTable>
  );
}
