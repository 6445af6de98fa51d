import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStack } from '#infra/local/stack/start-stack.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { mustRun, runTool, type ToolRun } from './run-tool.ts';

const python = { install: 'Debian: apt-get install python3-venv; 3.10 or newer' };

const settings = fileURLToPath(new URL('schemathesis', import.meta.url));

/** Installs schemathesis below `folder`, where it is not there already; resolves to its program. */
async function install(folder: string): Promise<string> {
  const requirements = join(settings, 'requirements.txt');
  const isThere = await access(join(folder, 'bin/pip')).then(
    () => true,
    () => false,
  );
  if (!isThere) await mustRun('python3', ['-m', 'venv', folder], python);
  await mustRun(join(folder, 'bin/pip'), ['install', '-q', '-r', requirements], python);
  return join(folder, 'bin/schemathesis');
}

interface Search {
  folder: string;
  /** Tries of an operation in a phase. */
  examples: number;
  seed: number;
  /** Of the walk along links. */
  walkSeconds: number;
}

/**
 * Checks a local stack against the document that it serves: examples, coverage and fuzzing, then walks along the
 * links. Throws MissingTool and Error where schemathesis cannot be had.
 */
export async function checkWithSchemathesis(search: Search): Promise<ToolRun[]> {
  const program = await install(join(search.folder, 'venv'));
  const stack = await startStack({ embedded: true, sweepSeconds: 0, log: () => undefined });
  try {
    const user = { uid: 'ada', projectId: stack.projectId, now: new Date() };
    const authorization = `Authorization: Bearer ${unsignedToken(user)}`;
    const common = `-n ${search.examples} --seed ${search.seed} --request-timeout 30 --report ndjson`;
    const target = ['run', `${stack.chatUrl}/v1/openapi.json`, '-H', authorization];
    const reports = ['--report-dir', search.folder, ...common.split(' ')];
    const phase = (...wanted: string[]) =>
      runTool(
        program,
        ['--config-file', join(settings, 'schemathesis.toml'), ...target, ...reports, ...wanted],
        // It leaves notes of its own where it runs.
        { cwd: search.folder, environment: { PYTHONPATH: settings } },
      );
    const requests = await phase('--phases', 'examples,coverage,fuzzing');
    const walk = await phase('--phases', 'stateful', '--max-time', String(search.walkSeconds));
    return [requests, walk];
  } finally {
    await stack.stop();
  }
}
