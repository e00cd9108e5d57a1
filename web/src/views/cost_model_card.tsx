// The versions of the cost model that tuning jobs begin with.
import { api, body, type Schemas } from '../api/client';
import { count } from '../format';
import { useLoaded } from '../ui/loading';
import { Badge, Card, Empty, ErrorNote, Loading, Moment, WideTable } from '../ui/parts';

const REFRESH_S = 30;

export function CostModelTable({ versions }: { versions: readonly Schemas['CostModel'][] }) {
  const rank = (value: number | null): string => (value === null ? '–' : value.toFixed(2));
  return (
    <WideTable label="Versions of the cost model">
      <thead>
        <tr>
          <th scope="col">Version</th>
          <th scope="col">State</th>
          <th scope="col">Learned</th>
          <th scope="col" class="number">Records</th>
          <th scope="col" class="number">Kernels</th>
          <th scope="col" class="number">Held out</th>
          <th scope="col" class="number">Ranks</th>
          <th scope="col" class="number">Before</th>
        </tr>
      </thead>
      <tbody>
        {versions.map((one) => (
          <tr key={one.version}>
            <th scope="row">{one.version}</th>
            <td>
              <Badge state={one.state} />
            </td>
            <td>
              <Moment time={one.created} />
            </td>
            <td class="number">{count(one.records)}</td>
            <td class="number">{count(one.tasks)}</td>
            <td class="number">{count(one.tasks_held_back)}</td>
            <td class="number strong">{rank(one.ranking)}</td>
            <td class="number">{rank(one.ranking_before)}</td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  );
}

export function CostModelCard() {
  const { value, error } = useLoaded(() => body(api.GET('/v1/cost-models')), [], REFRESH_S);
  return (
    <Card title="Shared cost model" hint="Learned from jobs of tenants that agree. Its rank is Kendall's tau on kernels that were held out; a version that ranks worse than the one before is rolled back.">
      <ErrorNote text={error} />
      {value === null && error === null && <Loading of="versions" />}
      {value?.cost_models.length === 0 && (
        <Empty title="No version yet">
          {value.learns ? 'It needs tenants that agree to it.' : 'This server was started without --learn-from, and learns no cost model.'}
        </Empty>
      )}
      {value !== null && value.cost_models.length > 0 && <CostModelTable versions={value.cost_models} />}
    </Card>
  );
}
