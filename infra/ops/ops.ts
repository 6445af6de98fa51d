import { runOps } from './command-line.ts';
import { openProject, requireCredentials } from './project.ts';
import { createScreen } from './screen.ts';

/*
 * The operator's command line: `npm run ops -- --help`. What it reads and changes goes through the ports, adapters
 * and use cases of the product.
 */
const screen = createScreen({
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  nowMs: () => performance.now(),
});

process.exitCode = await runOps(process.argv.slice(2), {
  screen,
  open: (options) =>
    openProject(options, {
      environment: process.env,
      setVariable: (name, value) => (process.env[name] = value),
      note: (text) => screen.note(text),
      requireCredentials,
    }),
});
// Google's clients keep connections open; what was written is out by then.
process.stdout.write('', () => process.exit());
