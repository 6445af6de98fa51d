import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { errorReasons } from '#shared/lib/error-reasons.ts';
import { servedDocument } from '#infra/reference/api-document.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const chatRoutes = await loadRoutes();
const { paths } = servedDocument();

test('the OpenAPI document passes the linter', async () => {
  const linter = createRequire(import.meta.url).resolve('@redocly/cli/package.json');
  const lint = [join(dirname(linter), 'bin/cli.js'), 'lint', 'recap', '--format=json'];
  const quiet = {
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_NOTIFICATIONS: 'true',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  };

  const { stdout } = await promisify(execFile)(process.execPath, lint, {
    cwd: root,
    env: { ...process.env, ...quiet },
  });

  expect(JSON.parse(stdout).totals).toMatchObject({ errors: 0, warnings: 0 });
});

test('the OpenAPI document has every route under every name', () => {
  const described = chatRoutes.flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((each) => paths[each]?.[method.toLowerCase()]?.operationId),
  );

  expect(described).not.toContain(undefined);
  expect(new Set(described).size).toBe(described.length);
});

test('every body that the OpenAPI document shows is one that the server accepts', () => {
  const shown = chatRoutes.filter(({ example }) => example !== undefined);
  const refused = shown.filter(({ body, example }) => !body.safeParse(example).success);

  expect(shown.length).toBeGreaterThan(10);
  expect(refused.map(({ operation }) => operation)).toEqual([]);
});

/** A declared path as a pattern: a parameter stands for whatever a page writes in its place. */
const addressPattern = (path: string) =>
  new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/:]+')}$`, 'u');

test('every call that a page names by method and address is one that chat serves', () => {
  const pages = globSync(['README.md', 'docs/**/*.md', 'terraform/**/*.md'], { cwd: root });
  const named = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8').replaceAll('\\_', '_');
    const calls = text.matchAll(
      /\b(GET|POST|PUT|PATCH|DELETE) (\/(?:v1|callable)\/[\w/{}:.-]*[\w}])/gu,
    );
    return [...calls].map(([, method = '', address = '']) => ({ page, method, address }));
  });
  const served = chatRoutes.flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((each) => ({ method, pattern: addressPattern(each) })),
  );

  const unserved = named.filter(
    (call) => !served.some((one) => one.method === call.method && one.pattern.test(call.address)),
  );
  expect(named.length).toBeGreaterThan(60);
  expect(unserved).toEqual([]);
});

/**
 * Reasons of the worker, of the start of a process, of what goes on beside answers, of `recap/compaction`, and what a model is
 * told: no caller of the API sees them.
 */
const notAnswered = [
  'BLOB_NOT_FOUND',
  'INVALID_CONFIGURATION',
  'MEMORY_NOT_SAID',
  'MODEL_PAUSED',
  'NOTIFICATION_REFUSED',
  'NOTIFIER_UNAVAILABLE',
  'PUSH_TOKEN_INVALID',
  'SNAPSHOT_OF_ANOTHER_HISTORY',
  'TOOL_FAILED',
  'WEBHOOK_FAILED',
];

test('the table of error reasons has every reason that the code answers with', () => {
  const sources = ['functions/src/!(worker)/**/*.ts', 'functions/src/*.ts', 'shared/**/*.ts'];
  const thrown = globSync(sources, { cwd: root }).flatMap((file) => {
    const errors = readFileSync(join(root, file), 'utf8').matchAll(
      /(?:new \w*Error|super)\(\{([\s\S]*?)\n\s*\}\)/g,
    );
    return [...errors].flatMap(
      ([, options = '']) => /\breason: '([A-Z_]+)'/.exec(options)?.[1] ?? [],
    );
  });

  const unknown = thrown.filter((reason) => !(reason in errorReasons));
  expect([...new Set(unknown)].toSorted()).toEqual(notAnswered);
});
