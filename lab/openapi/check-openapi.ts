import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkJavaClient } from './java-client.ts';
import { MissingTool, type ToolRun } from './run-tool.ts';
import { checkWithSchemathesis } from './schemathesis.ts';
import { checkTypeScriptClients } from './typescript-clients.ts';

const help = `Usage: npm run check:openapi -- [--only NAME] [--seed S] [--examples N] [--walk-seconds S]

Checks the OpenAPI document with tools of others, which are installed below node_modules/.cache on demand:

  typescript    openapi-typescript and @hey-api/openapi-ts make clients that compile (npm)
  java          openapi-generator makes a client that compiles (a JDK and Maven)
  schemathesis  the local stack answers as the document says (Python 3.10 with venv)

  --only NAME        one of them
  --seed S           of schemathesis (default 1)
  --examples N       tries of an operation in each phase of schemathesis (default 50)
  --walk-seconds S   how long schemathesis walks along links (default 120)

Exit code: 0 nothing was found; 1 something was; 2 wrong arguments, or a tool is missing.`;

const document = fileURLToPath(new URL('../../docs/reference/openapi.json', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/check-openapi/', import.meta.url));

const readArguments = () =>
  parseArgs({
    options: {
      only: { type: 'string' },
      seed: { type: 'string', default: '1' },
      examples: { type: 'string', default: '50' },
      'walk-seconds': { type: 'string', default: '120' },
      help: { type: 'boolean', default: false },
    },
  }).values;

/** What is checked by which name. */
const checks = ({ seed, examples, 'walk-seconds': seconds }: ReturnType<typeof readArguments>) => ({
  typescript: async () => {
    await rm(`${cache}typescript/client`, { recursive: true, force: true });
    return [await checkTypeScriptClients(document, `${cache}typescript`)];
  },
  java: async () => {
    await rm(`${cache}java/client`, { recursive: true, force: true });
    return [await checkJavaClient(document, `${cache}java`)];
  },
  schemathesis: () =>
    checkWithSchemathesis({
      folder: `${cache}schemathesis`,
      seed: Number(seed),
      examples: Number(examples),
      walkSeconds: Number(seconds),
    }),
});

/** Runs one check and says what came of it; resolves to an exit code. */
async function report(name: string, check: () => Promise<ToolRun[]>): Promise<number> {
  try {
    const runs = await check();
    for (const { output } of runs) if (output.trim() !== '') console.log(output.trim());
    const isOk = runs.every((run) => run.isOk);
    console.log(`${name}: ${isOk ? 'nothing found' : 'something was found'}`);
    return isOk ? 0 : 1;
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof MissingTool ? 2 : 1;
  }
}

async function main(): Promise<number> {
  const given = readArguments();
  if (given.help) {
    console.log(help);
    return 0;
  }
  const { only } = given;
  const all = Object.entries(checks(given));
  const wanted = all.filter(([name]) => only === undefined || name === only);
  if (wanted.length === 0) throw new Error(`--only: there is no check ${only}`);
  let code = 0;
  for (const [name, check] of wanted) code = Math.max(code, await report(name, check));
  return code;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
