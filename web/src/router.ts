// Which view is shown: the address of the page, as a signal.
import { computed, signal } from '@preact/signals';

const address = signal(new URL(window.location.href));

export const path = computed(() => address.value.pathname);
export const query = computed(() => address.value.searchParams);

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const next = new URL(to, window.location.href);
  if (next.href === window.location.href) return;
  if (options.replace === true) history.replaceState(null, '', next);
  else history.pushState(null, '', next);
  const moves = next.pathname !== address.value.pathname;
  address.value = next;
  if (moves) window.scrollTo(0, 0);
}

// The named parts of the path if it is like the template, as "/jobs/:id".
export function match(template: string, given: string): Record<string, string> | null {
  const wanted = template.split('/');
  const parts = given.replace(/(?<=.)\/$/, '').split('/');
  if (wanted.length !== parts.length) return null;
  const named: Record<string, string> = {};
  for (const [i, name] of wanted.entries()) {
    const part = parts[i] ?? '';
    if (name.startsWith(':')) {
      try {
        named[name.slice(1)] = decodeURIComponent(part);
      } catch {
        return null;
      }
    } else if (name !== part) {
      return null;
    }
  }
  return named;
}

// Links within the page change the view; all others are the browser's own business.
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest('a');
  if (link === null || link === undefined || link.target !== '' || link.hasAttribute('download')) return;
  if (link.origin !== window.location.origin || link.pathname.startsWith('/v1/') || link.hash !== '') return;
  event.preventDefault();
  navigate(link.href);
}

export function startRouter(): void {
  document.addEventListener('click', followLink);
  window.addEventListener('popstate', () => (address.value = new URL(window.location.href)));
}
