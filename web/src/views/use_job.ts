// A job with all its details, read again whenever its stream tells of a change.
import { useEffect, useState } from 'preact/hooks';
import { api, body, fileAddress, sentenceOf, type Job, type JobDetail } from '../api/client';
import { follow } from '../api/events';
import { curveOfEvents, isOver, tuningResultOf, type CurvePoint } from '../job_facts';
import { announce } from '../ui/announce';

export interface FollowedJob {
  job: JobDetail | null;
  error: string | null;
  curve: readonly CurvePoint[];
}

export const EVENTS_FILE = 'out/events.jsonl';

async function readCurve(job: JobDetail): Promise<CurvePoint[]> {
  const result = tuningResultOf(job.result);
  if (result !== null && result.curve.length > 0) return result.curve;
  if (!job.files.some((file) => file.name === EVENTS_FILE)) return [];
  const response = await fetch(fileAddress(job.id, EVENTS_FILE));
  return response.ok ? curveOfEvents(await response.text()) : [];
}

export function readJob(id: string): Promise<JobDetail> {
  return body(api.GET('/v1/jobs/{id}', { params: { path: { id } } }));
}

export function useJob(id: string): FollowedJob {
  const [job, setJob] = useState<JobDetail | null>(null);
  const [curve, setCurve] = useState<readonly CurvePoint[]>([]);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let isHere = true;
    let isDone = false;
    let state = '';
    const read = async (): Promise<void> => {
      try {
        const next = await readJob(id);
        const points = await readCurve(next);
        if (!isHere) return;
        if (state !== '' && state !== next.state) announce(`The job is ${next.state}`);
        state = next.state;
        isDone = isOver(next.state);
        setJob(next);
        setCurve(points);
        setError(null);
      } catch (reason) {
        if (isHere) setError(sentenceOf(reason));
      }
    };
    void read();
    const end = follow<Job>(`/v1/jobs/${encodeURIComponent(id)}/events`, {
      event: 'job',
      onEvent: (next) => {
        // The server ends the stream of a job that is over.
        isDone = isOver(next.state);
        void read();
      },
      goesOn: () => !isDone,
    });
    return () => {
      isHere = false;
      end();
    };
  }, [id]);
  return { job, error, curve };
}
