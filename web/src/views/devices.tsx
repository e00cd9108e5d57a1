// The devices: load, queue and calibration.
import { api, body, may, session, type Device, type Schemas } from '../api/client';
import { LineChart } from '../charts/line_chart';
import { count, gflops, moment, percent } from '../format';
import { useLoaded } from '../ui/loading';
import { Badge, Card, Empty, ErrorNote, Loading, Meter, ViewHead } from '../ui/parts';
import { OwnersForm } from './owners_form';

type Calibration = Schemas['Calibration'];
const REFRESH_S = 3;
const STATES: Record<Device['state'], string> = {
  free: 'ready to measure',
  held: 'busy measuring',
  drained: 'drained: takes no new work',
  away: 'away: its agent is not connected',
};

function Calibrations({ device }: { device: Device }) {
  const { value, error } = useLoaded(() => body(api.GET('/v1/calibrations', { params: { query: { device: device.id } } })), [device.id], 60);
  const list: readonly Calibration[] = value?.calibrations ?? [];
  const last = list.at(-1);
  if (error !== null) return <ErrorNote text={error} />;
  if (last === undefined)
    return (
      <p class="hint">
        Not calibrated yet; <code>attune fleet calibrate {device.id}</code> does so.
      </p>
    );
  const first = list[0] ?? last;
  const drift = last.gflops_per_core / first.gflops_per_core - 1;
  return (
    <>
      <p class="hint">
        {gflops(last.gflops_per_core)} a core, {Math.round(last.memory_gb_per_s)} GB/s from memory; {drift >= 0 ? '+' : '−'}
        {percent(Math.abs(drift))} since the first of {list.length}, the last {moment(last.time)}
      </p>
      {list.length > 1 && (
        <LineChart
          label={`Peak rate of ${device.id} over ${list.length} calibrations, ${gflops(first.gflops_per_core)} at first and ${gflops(last.gflops_per_core)} at last.`}
          curves={[{ label: 'peak of a core', color: '--accent', points: list.map((one) => [Date.parse(one.time), one.gflops_per_core] as const) }]}
          x={(time) => moment(new Date(time).toISOString())}
          y={gflops}
          fromZero
          height={160}
        />
      )}
    </>
  );
}

function sharing(device: Device): string {
  if (!device.is_usable) return ' (your jobs do not run there: it is not shared with you, or you do not trust its owner)';
  if (device.shared_with.includes('*')) return ', shared with all';
  return device.shared_with.length === 0 ? '' : `, shared with ${device.shared_with.join(', ')}`;
}

function Share({ device, onShared }: { device: Device; onShared: () => void }) {
  return (
    <details>
      <summary>Share it</summary>
      <OwnersForm
        key={device.shared_with.join(' ')}
        id={`share-${device.id}`}
        label="Share with these tenants"
        hint="An asterisk means all tenants. A tenant that you remove loses the device at once, even during a measurement."
        owners={device.shared_with}
        said={`Sharing of ${device.id} is saved`}
        save={(owners) => body(api.PUT('/v1/device-sharing', { params: { query: { device: device.id } }, body: { shared_with: owners } }))}
        onSaved={onShared}
      />
    </details>
  );
}

function DeviceCard({ device, queue, onShared }: { device: Device; queue: ReadonlyMap<string, number>; onShared: () => void }) {
  const waiting = device.keys.reduce((sum, key) => sum + (queue.get(key) ?? 0), 0);
  return (
    <Card title={device.id} actions={<Badge state={device.state} />}>
      <div class="stack">
        <dl class="facts">
          <dt>Keys</dt>
          <dd class="chips">
            {device.keys.map((key) => (
              <code key={key} class="chip">
                {key}
              </code>
            ))}
          </dd>
          <dt>Target</dt>
          <dd>{device.target === '' ? 'unknown to this server' : device.target}</dd>
          <dt>Fingerprint</dt>
          <dd>
            <code>{device.fingerprint}</code>
          </dd>
          <dt>Processors</dt>
          <dd>{count(device.processors)}</dd>
          <dt>Owner</dt>
          <dd>
            {device.owner}
            {sharing(device)}
          </dd>
          <dt>State</dt>
          <dd>
            {device.state === 'free' && device.is_disturbed ? 'free, but disturbed' : STATES[device.state]}
            {device.is_disturbed && device.state !== 'away' && (
              <p class="hint">
                Other programs use {percent(device.disturbance)} of its processors. Measurements are repeated meanwhile, and judge no promise.
              </p>
            )}
          </dd>
          <dt>Load</dt>
          <dd>
            {percent(device.load)}
            <Meter share={device.load} tone={device.load > 0.9 ? 'bad' : 'accent'} />
          </dd>
          <dt>Queue</dt>
          <dd>{waiting === 0 ? 'no requests' : `${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'}`}</dd>
        </dl>
        {device.owner === session.value?.tenant && may('operator') && <Share device={device} onShared={onShared} />}
        <Calibrations device={device} />
      </div>
    </Card>
  );
}

export function DevicesView() {
  const devices = useLoaded(() => body(api.GET('/v1/devices')), [], REFRESH_S);
  const queue = useLoaded(() => body(api.GET('/v1/queue')), [], REFRESH_S);
  const waiting = new Map((queue.value?.waiting ?? []).map(({ key, requests }) => [key, requests]));
  const list = devices.value?.devices ?? [];
  const free = list.filter((device) => device.state === 'free').length;
  return (
    <>
      <ViewHead title="Devices" lead={devices.value === null ? 'Kernels are measured here.' : `${list.length} known, ${free} free.`} />
      <ErrorNote text={devices.error ?? queue.error} />
      {devices.value === null && devices.error === null && <Loading of="devices" />}
      {devices.value !== null && list.length === 0 && (
        <Empty title="No device has joined yet">
          <p>
            Invite one with <code>attune fleet invite</code>, and run <code>attune agent --invitation-file - --key NAME</code> on
            it.
          </p>
        </Empty>
      )}
      <div class="cards">
        {list.map((device) => (
          <DeviceCard key={device.id} device={device} queue={waiting} onShared={devices.reload} />
        ))}
      </div>
    </>
  );
}
