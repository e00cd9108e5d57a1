// Dark or light: the system's choice until the person makes one.
import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'attune-theme';

function stored(): Theme {
  const theme = document.documentElement.dataset['theme'];
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export const theme = signal<Theme>(stored());
// Counts changes of what is painted, so that charts paint themselves again.
export const paintings = signal(0);

export function chooseTheme(next: Theme): void {
  theme.value = next;
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  try {
    if (next === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
  paintings.value += 1;
}

window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => (paintings.value += 1));

// The color of a custom property as a canvas understands it.
export function colorOf(property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  probe.hidden = true;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
