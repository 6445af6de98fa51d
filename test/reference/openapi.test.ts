import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { errorReasons } from '#shared/wire/errors/error-reasons.ts';
import { servedDocument } from '#infra/reference/api-document.ts';
import { thrownReasons } from './thrown-reasons.ts';

const chatRoutes = await loadRoutes();

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the linter of the development tools; it asks nobody for anything. */
async function lint() {
  const command = join(
    dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
    'bin/cli.js',
  );
  const child = spawn(process.execPath, [command, 'lint', 'recap', '--format=json'], {
    cwd: root,
    env: {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_NOTIFICATIONS: 'true',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    },
  });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const [status] = await once(child, 'close');
  return { status, output };
}

describe('the OpenAPI document', () => {
  test('the OpenAPI document passes the linter', async () => {
    const { status, output } = await lint();

    expect(JSON.parse(output).totals).toMatchObject({ errors: 0, warnings: 0 });
    expect(status).toBe(0);
  });

  test('the OpenAPI document has every route under every name', () => {
    const { paths } = servedDocument();
    const described = chatRoutes.flatMap(({ method, path, aliases = [] }) =>
      [path, ...aliases].map((each) => paths[each]?.[method.toLowerCase()]?.operationId),
    );

    expect(described).not.toContain(undefined);
    expect(new Set(described).size).toBe(described.length);
  });

  test.each(
    chatRoutes
      .filter(({ example }) => example !== undefined)
      .map((route) => [route.operation, route] as const),
  )('the OpenAPI document shows a body of %s that the server accepts', (_, { body, example }) => {
    expect(body.safeParse(example).success).toBe(true);
  });
});

test('the table of error reasons has every reason that the code answers with', () => {
  const unknown = thrownReasons().filter(({ reason }) => !(reason in errorReasons));

  expect(unknown).toEqual([]);
});
