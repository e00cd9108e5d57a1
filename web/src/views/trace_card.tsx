// Where a job's time went, for tools that show traces.
import { api, body } from '../api/client';
import { traceIdOf } from '../job_facts';
import { useLoaded } from '../ui/loading';
import { Card, ErrorNote } from '../ui/parts';

export function TraceCard({ job }: { job: string }) {
  const { value, error } = useLoaded(() => body(api.GET('/v1/jobs/{id}/trace', { params: { path: { id: job } } })), [job]);
  const id = traceIdOf(value);
  return (
    <Card
      title="Trace"
      hint="The job's stages and waiting times, as spans in OTLP/JSON, for Jaeger and Tempo."
      actions={
        <a class="button" href={`/v1/jobs/${encodeURIComponent(job)}/trace`} download={`${job}.trace.json`}>
          Download the trace
        </a>
      }
    >
      <ErrorNote text={error} />
      {id !== null && (
        <dl class="facts">
          <dt>Trace id</dt>
          <dd>
            <code>{id}</code>
          </dd>
        </dl>
      )}
    </Card>
  );
}
