import { readChoice, readOptions, runCommand } from '#infra/command-line.ts';
import { terminalText } from '#infra/terminal-text.ts';
import { clientNames, startClients, type ClientName } from './launchers/clients.ts';
import { allScenarios, type Scenario } from './judge/scenario.ts';

const HELP = `Usage: npm run conformance -- [options]

Plays the scenarios of clients/conformance/scenarios.yaml to a client, and says which it does not hold.

  --client NAME  ${clientNames.join(' or ')}; typescript by itself
  --only TEXT    those whose chapter or name has the text
  --list         only names them
  --help`;

const write = (text: string): void => void process.stdout.write(terminalText(text));

/** Resolves to how many are not held. */
async function playAll(name: ClientName, scenarios: readonly Scenario[]): Promise<number> {
  const clients = await startClients(name);
  let failed = 0;
  const play = async (scenario: Scenario) => {
    const begun = performance.now();
    const title = `${scenario.chapter}: ${scenario.name}`;
    try {
      await clients.play(scenario);
      write(`held    ${title} (${Math.round(performance.now() - begun)} ms)\n`);
    } catch (error) {
      failed += 1;
      const reason = error instanceof Error ? error.message : String(error);
      write(`FAILED  ${title}\n${reason.replaceAll(/^/gm, '        ')}\n`);
    }
  };
  try {
    await Promise.all(scenarios.map(play));
  } finally {
    await clients.stop();
  }
  write(`${scenarios.length} scenarios: ${scenarios.length - failed} held, ${failed} failed\n`);
  return failed;
}

process.exitCode = await runCommand(HELP, async (argv) => {
  const options = readOptions(argv, {
    client: { type: 'string', default: 'typescript' },
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (options.help) return 'help';
  const client = readChoice('--client', options.client, clientNames);
  const scenarios = allScenarios().filter(({ chapter, name }) =>
    `${chapter}: ${name}`.includes(options.only),
  );
  if (!options.list) return (await playAll(client, scenarios)) === 0 ? 0 : 1;
  for (const { chapter, name } of scenarios) write(`${chapter}: ${name}\n`);
  return 0;
});
