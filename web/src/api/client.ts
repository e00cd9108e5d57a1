// Asks the server. Errors are thrown as the server's own sentences.
import createClient, { type Middleware } from 'openapi-fetch';
import { signal } from '@preact/signals';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];
export type Job = Schemas['Job'];
export type JobDetail = Schemas['JobDetail'];
export type NewJob = Schemas['NewJob'];
export type Device = Schemas['Device'];
export type Model = Schemas['Model'];
export type ModelDetail = Schemas['ModelDetail'];
export type Token = Schemas['Token'];
export type Session = Schemas['Session'];

// Null until it is known.
export const session = signal<Session | null>(null);

export class Problem extends Error {
  constructor(
    readonly status: number,
    sentence: string,
    readonly retrySeconds: number | null = null,
  ) {
    super(sentence);
  }
}

// The server's sentence; one of our own where it has told none.
export function sentenceOf(error: unknown): string {
  if (error instanceof Problem) return error.message;
  if (error instanceof TypeError) return 'the server cannot be reached; check that it runs. This page tries again.';
  return error instanceof Error ? error.message : String(error);
}

export async function problemOf(response: Response): Promise<Problem> {
  let sentence = `the server has answered ${response.status} ${response.statusText}`;
  try {
    const body = (await response.json()) as { detail?: unknown };
    if (typeof body.detail === 'string') sentence = body.detail;
  } catch {
    // The body is no JSON.
  }
  const seconds = Number(response.headers.get('Retry-After'));
  return new Problem(response.status, sentence, seconds > 0 ? seconds : null);
}

// The header that every change must send, so that no other site can make it.
export function changeHeaders(): Record<string, string> {
  const token = session.value?.csrf_token;
  return typeof token === 'string' ? { 'X-CSRF-Token': token } : {};
}

const guard: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET') for (const [name, value] of Object.entries(changeHeaders())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    if (response.ok) return response;
    const problem = await problemOf(response);
    // The session is over; the view for logging in comes up by itself.
    if (response.status === 401 && session.value?.role != null) void readSession();
    throw problem;
  },
};

export const api = createClient<paths>({ baseUrl: window.location.origin, credentials: 'same-origin' });
api.use(guard);

// The body of an answer. Errors have been thrown before.
export async function body<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  if (data === undefined) throw new Error('the server has answered without a body');
  return data;
}

export async function readSession(): Promise<void> {
  session.value = await body(api.GET('/v1/session'));
}

export async function login(token: string): Promise<void> {
  session.value = await body(api.POST('/v1/session', { body: { token } }));
}

export async function logout(): Promise<void> {
  await api.DELETE('/v1/session');
  await readSession();
}

const ROLES = ['viewer', 'member', 'operator', 'admin'];

// Whether the person of the session has this role or a higher one.
export function may(role: 'viewer' | 'member' | 'operator' | 'admin'): boolean {
  return ROLES.indexOf(session.value?.role ?? '') >= ROLES.indexOf(role);
}

export function fileAddress(job: string, name: string): string {
  return `/v1/jobs/${encodeURIComponent(job)}/files/${encodeURIComponent(name)}`;
}
