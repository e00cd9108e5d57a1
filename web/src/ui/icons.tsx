// Icons beside words, which say the same.
const PATHS = {
  jobs: 'M4 6h10M4 12h16M4 18h7',
  devices: 'M7 7h10v10H7zM9 3v4M15 3v4M9 17v4M15 17v4M3 9h4M3 15h4M17 9h4M17 15h4',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  records: 'M5 5c0-1.1 3.1-2 7-2s7 .9 7 2v14c0 1.1-3.1 2-7 2s-7-.9-7-2zM5 5c0 1.1 3.1 2 7 2s7-.9 7-2M5 12c0 1.1 3.1 2 7 2s7-.9 7-2',
  access: 'M8 14a4 4 0 1 1 3.5-6H21v4h-3v3h-3v-3h-3.500A4 4 0 0 1 8 14zM8 10h.01',
  tenant: 'M4 20h16M6 20V5h7v15M13 10h5v10M9 9h1M9 13h1M9 17h1',
  upload: 'M12 16V4M7 9l5-5 5 5M4 20h16',
  theme: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M5 17c2.4 0 2.4-7 4.8-7s2.4 13 4.8 13 2.4-16 4.8-16 2.4 11 4.8 11 1.6-3 2.8-3" />
    </svg>
  );
}
