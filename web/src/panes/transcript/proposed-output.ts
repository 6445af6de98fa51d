import { deviceTool, type OpenCall } from '#web/state/app-tools.ts';

/** What the page would answer by itself; an empty object where only the user knows. */
export const proposedOutput = (call: Pick<OpenCall, 'name'>): object =>
  call.name === deviceTool.name
    ? {
        language: navigator.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        window: `${innerWidth} × ${innerHeight} px`,
        colours: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
      }
    : {};
