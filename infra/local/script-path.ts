import { fileURLToPath } from 'node:url';

/** Whether this runs from the repository; in the package all scripts are JavaScript and stand in one folder. */
export const isSource: boolean = import.meta.url.endsWith('.ts');

/** Scripts that run as processes of their own, by their sources. The package is built of the same list. */
export const scripts = {
  embedded: 'infra/local/embedded/main.ts',
  'exit-with-parent': 'infra/local/processes/exit-with-parent.ts',
  'fake-gemini': 'infra/fake-gemini/server/main.ts',
  function: 'infra/local/stack/function-main.ts',
} as const;

/** The security rules, which the emulator is given. */
export const rulesPath: string = fileURLToPath(
  new URL(
    isSource ? '../firestore/firestore.rules' : '../../infra/firestore/firestore.rules',
    import.meta.url,
  ),
);

/** Where Node finds a script. */
export const scriptPath = (name: keyof typeof scripts): string =>
  fileURLToPath(new URL(isSource ? `../../${scripts[name]}` : `./${name}.js`, import.meta.url));
