import type { ComponentChildren } from 'preact';
import { brokenStreams } from './api/events';
import { logout, may, session } from './api/client';
import { match, path } from './router';
import { chooseTheme, theme, type Theme } from './theme';
import { Announcer } from './ui/announce';
import { Icon, Mark } from './ui/icons';
import { Loading, ViewHead } from './ui/parts';
import { AccessView } from './views/access';
import { CompareView } from './views/compare';
import { DevicesView } from './views/devices';
import { JobView } from './views/job';
import { JobsView } from './views/jobs';
import { LoginView } from './views/login';
import { ModelsView } from './views/models';
import { NewJobView } from './views/new_job';
import { RecordsView } from './views/records';
import { TenantView } from './views/tenant';

type Named = Record<string, string>;
const ROUTES: readonly [string, (named: Named) => ComponentChildren][] = [
  ['/', () => <JobsView />],
  ['/new', () => <NewJobView />],
  ['/jobs/:id', ({ id = '' }) => <JobView key={id} id={id} />],
  ['/compare', () => <CompareView />],
  ['/devices', () => <DevicesView />],
  ['/models', () => <ModelsView />],
  ['/records', () => <RecordsView />],
  ['/tenant', () => <TenantView />],
  ['/access', () => <AccessView />],
];

const PLACES = [
  { to: '/', name: 'Jobs', icon: 'jobs', also: ['/jobs/', '/new', '/compare'] },
  { to: '/devices', name: 'Devices', icon: 'devices', also: [] },
  { to: '/models', name: 'Models', icon: 'models', also: [] },
  { to: '/records', name: 'Records', icon: 'records', also: [] },
  { to: '/tenant', name: 'Tenant', icon: 'tenant', also: [], role: 'operator' },
  { to: '/access', name: 'Access', icon: 'access', also: [] },
] as const;
type Place = (typeof PLACES)[number];

function isOffered(place: Place): boolean {
  return !('role' in place) || may(place.role);
}

function Navigation() {
  return (
    <nav aria-label="Main">
      <ul>
        {PLACES.filter(isOffered).map(({ to, name, icon, also }) => {
          const isHere = path.value === to || also.some((begin) => path.value.startsWith(begin));
          return (
            <li key={to}>
              <a href={to} aria-current={isHere ? 'page' : undefined}>
                <Icon name={icon} />
                <span>{name}</span>
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

const NEXT_THEME: Record<Theme, Theme> = { system: 'dark', dark: 'light', light: 'system' };

function ThemeSwitch() {
  return (
    <button class="quiet" type="button" onClick={() => chooseTheme(NEXT_THEME[theme.value])}>
      <Icon name="theme" />
      <span>
        Theme: <span class="theme-name">{theme.value}</span>
      </span>
    </button>
  );
}

function Person() {
  const who = session.value;
  return (
    <div class="person">
      <div class="person-name">
        <strong>{who?.name}</strong>
        <span class="muted">
          {who?.role} · {who?.tenant}
        </span>
      </div>
      <ThemeSwitch />
      <button class="quiet" type="button" onClick={() => void logout()}>
        Log out
      </button>
    </div>
  );
}

function View() {
  for (const [template, view] of ROUTES) {
    const named = match(template, path.value);
    if (named !== null) return <>{view(named)}</>;
  }
  return (
    <>
      <ViewHead title="Nothing here" lead="There is no view at this address." />
      <p>
        <a href="/">Go to the jobs</a>
      </p>
    </>
  );
}

export function App() {
  if (session.value === null)
    return (
      <main id="main">
        <Loading of="the page" />
      </main>
    );
  if (session.value.role === null) return <LoginView />;
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href="/">
          <Mark />
          <span>Attune</span>
        </a>
        {may('member') && (
          <a class="button button-main tune" href="/new">
            <Icon name="upload" />
            <span>Tune a model</span>
          </a>
        )}
        <Navigation />
        <Person />
      </header>
      <main id="main" tabIndex={-1}>
        {brokenStreams.value > 0 && (
          <p class="note" role="status">
            The connection to the server is lost; this page is connecting again.
          </p>
        )}
        <View />
      </main>
      <Announcer />
    </div>
  );
}
