import { load } from './load.ts';

interface Page {
  document: { createElement: (tag: string) => object };
}

/** What is used of React. */
interface React {
  createElement: (type: unknown, props?: object | null, ...children: unknown[]) => unknown;
}

const { JSDOM } = await load<{ JSDOM: new (html: string, options: object) => { window: Page } }>(
  import.meta.resolve('jsdom'),
);
const { window } = new JSDOM('<!doctype html><body></body>', {
  url: 'http://app.test/',
  pretendToBeVisual: true,
});

// React and what stands on it look for a page when they are loaded; what Node has stays Node's.
for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(window)))
  if (!(name in globalThis)) Object.defineProperty(globalThis, name, property);

export const react = await load<React>(import.meta.resolve('react'));

const { createRoot } = await load<{
  createRoot: (container: object) => { render: (element: unknown) => void };
}>(import.meta.resolve('react-dom/client'));

/** Renders a component on a page of its own. */
export function render(component: () => unknown): void {
  createRoot(window.document.createElement('div')).render(react.createElement(component));
}
