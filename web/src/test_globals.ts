// The little of a browser that unit tests touch.
Object.assign(globalThis, { window: { location: { origin: 'http://server', href: 'http://server/' }, addEventListener: () => undefined } });
