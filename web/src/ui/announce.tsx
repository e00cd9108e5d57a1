// Says to screen readers what has changed without the person's doing.
import { signal } from '@preact/signals';

const said = signal('');

export function announce(text: string): void {
  said.value = text;
}

export function Announcer() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {said.value}
    </div>
  );
}
