// Small parts that all views are made of.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ago, moment } from '../format';

export function Badge({ state }: { state: string }) {
  return <span class={`badge badge-${state}`}>{state.replaceAll('_', ' ')}</span>;
}

export function ErrorNote({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <p class="note note-bad" role="alert">
      {text}
    </p>
  );
}

export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <div>{children}</div>
    </div>
  );
}

export function Loading({ of }: { of: string }) {
  return <p class="muted loading">Loading {of} …</p>;
}

// The heading of a view, which gets the focus when the view comes up, so that screen readers begin there.
export function ViewHead({ title, children, lead }: { title: string; lead?: ComponentChildren; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Attune`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <header class="view-head">
      <div class="view-title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead !== undefined && <div class="lead">{lead}</div>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </header>
  );
}

interface CardProps {
  title: string;
  hint?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}
export function Card({ title, hint, actions, children }: CardProps) {
  const id = `card-${title.toLowerCase().replace(/\W+/g, '-')}`;
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <div>
          <h2 id={id}>{title}</h2>
          {hint !== undefined && <p class="hint">{hint}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}

export function Stat({ name, value, detail, tone }: { name: string; value: ComponentChildren; detail?: ComponentChildren; tone?: 'good' | 'bad' }) {
  return (
    <div class={tone === undefined ? 'stat' : `stat stat-${tone}`}>
      <dt>{name}</dt>
      <dd>{value}</dd>
      {detail !== undefined && <dd class="stat-detail">{detail}</dd>}
    </div>
  );
}

// A table that scrolls by itself where it is too wide, with the keyboard too.
export function WideTable({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="wide" role="region" aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

export function Moment({ time }: { time: string }) {
  return (
    <time dateTime={time} title={moment(time)}>
      {ago(time)}
    </time>
  );
}

// A share from 0 to 1 as a bar. The number stands beside it for those who do not see it.
export function Meter({ share, tone = 'accent' }: { share: number; tone?: string }) {
  const bounded = Math.min(1, Math.max(0, share));
  return (
    <span class="meter" aria-hidden="true">
      <span class={`meter-fill meter-${tone}`} style={{ inlineSize: `${bounded * 100}%` }} />
    </span>
  );
}
