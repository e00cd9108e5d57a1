// The gain of tuning, task by task, and how far each is from its roofline.
import { useState } from 'preact/hooks';
import { factor, gflops, latency, percent } from '../format';
import { gainOf, roofShare, type TaskGain } from '../job_facts';
import { Meter, WideTable } from '../ui/parts';

type Order = 'time' | 'gain' | 'roof';
const ORDERS: Record<Order, string> = { time: 'share of the time', gain: 'gain', roof: 'room below the roofline' };
const FEW = 12;

function compare(order: Order): (a: TaskGain, b: TaskGain) => number {
  if (order === 'gain') return (a, b) => (gainOf(b) ?? 0) - (gainOf(a) ?? 0);
  if (order === 'roof') return (a, b) => (roofShare(a) ?? 2) - (roofShare(b) ?? 2);
  return (a, b) => b.tunedMs * b.uses - a.tunedMs * a.uses;
}

function rate(task: TaskGain): string {
  return task.tunedMs > 0 && task.flops > 0 ? gflops(task.flops / (task.tunedMs * 1e6)) : '–';
}

function GainRow({ task, total }: { task: TaskGain; total: number }) {
  const share = total > 0 ? (task.tunedMs * task.uses) / total : 0;
  const roof = roofShare(task);
  return (
    <tr>
      <th scope="row">
        <span class="task">{task.description}</span>
        <code class="config">{task.config === '' ? task.baseline : task.config}</code>
      </th>
      <td class="number">{task.uses}</td>
      <td class="number">
        {percent(share)}
        <Meter share={share} />
      </td>
      <td class="number">{latency(task.untunedMs)}</td>
      <td class="number">{latency(task.tunedMs)}</td>
      <td class="number strong">{factor(gainOf(task))}</td>
      <td class="number">{rate(task)}</td>
      <td class="number">
        {percent(roof)}
        <Meter share={roof ?? 0} tone="good" />
      </td>
      <td class="number">{task.trials}</td>
    </tr>
  );
}

export function GainTable({ tasks }: { tasks: readonly TaskGain[] }) {
  const [order, setOrder] = useState<Order>('time');
  const [showsAll, showAll] = useState(false);
  const total = tasks.reduce((sum, task) => sum + task.tunedMs * task.uses, 0);
  const sorted = [...tasks].sort(compare(order));
  const shown = showsAll ? sorted : sorted.slice(0, FEW);
  return (
    <>
      <div class="toolbar">
        <label for="gain-order">Order by</label>
        <select id="gain-order" value={order} onChange={(event) => setOrder(event.currentTarget.value as Order)}>
          {Object.entries(ORDERS).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <WideTable label="Gains of tasks">
        <thead>
          <tr>
            <th scope="col">Kernel and its config</th>
            <th scope="col" class="number">Uses</th>
            <th scope="col" class="number">Share</th>
            <th scope="col" class="number">Baseline</th>
            <th scope="col" class="number">Tuned</th>
            <th scope="col" class="number">Gain</th>
            <th scope="col" class="number">Rate</th>
            <th scope="col" class="number">Share of roofline</th>
            <th scope="col" class="number">Trials</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((task) => (
            <GainRow key={task.task} task={task} total={total} />
          ))}
        </tbody>
      </WideTable>
      {sorted.length > shown.length && (
        <button class="button" type="button" onClick={() => showAll(true)}>
          Show all {sorted.length}
        </button>
      )}
    </>
  );
}
