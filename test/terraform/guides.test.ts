import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { monitoring } from './alerts.ts';
import { terraformFolder } from './check-terraform.ts';
import { readModule, type Module } from './lint/read-module.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const deploy = textOf('docs/deploy.md');
const operations = textOf('docs/operations.md');
const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);
const unique = (names: readonly string[]) => [...new Set(names)].toSorted();

let module: Module;
beforeAll(async () => {
  module = await readModule(terraformFolder);
});

describe('docs/deploy.md', () => {
  test('has a row for every resource of the module, and none for another', () => {
    const rows = matches(deploy, /^\| `((?:google|time)_[\w.]+)`/gm);

    expect(rows.toSorted()).toEqual(module.resources.map(({ address }) => address).toSorted());
  });

  test('lets who deploys give the roles that are given on projects, and no other', () => {
    const given = module.resources
      .filter(({ type }) => type === 'google_project_iam_member')
      .map(({ body }) => String(body['role']));
    const allowed = /hasOnly\(\[([^\]]*)\]/.exec(deploy)?.[1] ?? '';

    expect(matches(allowed, /'([\w./]+)'/g)).toEqual(unique(given));
  });
});

describe('a row of docs/deploy.md', () => {
  /** What a resource is, and what it costs, by its address. */
  const rowOf = (address: string) =>
    deploy
      .split('\n')
      .find((line) => line.startsWith(`| \`${address}\` `))
      ?.split('|')
      .slice(2, -1)
      .map((cell) => cell.trim()) ?? [];

  test('says what the resource is and what it costs', () => {
    const empty = module.resources
      .map(({ address }) => ({ address, cells: rowOf(address) }))
      .filter(({ cells }) => cells.length !== 2 || cells.includes(''));

    expect(empty).toEqual([]);
  });

  test('names the right that is given, and no other', () => {
    const rights = module.resources
      .filter(({ type }) => type.endsWith('_iam_member'))
      .map(({ address, body }) => ({ address, role: String(body['role']).replace('roles/', '') }));
    const named = rights.map(({ address }) => ({
      address,
      role: matches(rowOf(address)[0] ?? '', /`([a-z]+\.[a-zA-Z]+)`/g).join(),
    }));

    expect(rights.length).toBeGreaterThan(10);
    expect(named).toEqual(rights);
  });

  test('has the name that the resource has', () => {
    const named = module.resources.flatMap(({ address, body }) => {
      const name = String(body['name'] ?? body['account_id']);
      if (!/^\$\{var\.name\}-[a-z-]+$/.test(name)) return [];
      return [{ address, name: name.replace('${var.name}', 'recap') }];
    });
    const told = (address: string) => (rowOf(address)[0] ?? '').replaceAll('@…', '');

    expect(named.length).toBeGreaterThan(8);
    expect(named.filter(({ address, name }) => !told(address).includes(`\`${name}\``))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  test('links the instructions of every alert, and none of another', async () => {
    const alerts = operations.split(/^## /m).find((part) => part.startsWith('Alerts')) ?? '';
    const { alerts: keys } = await monitoring();

    expect(
      matches(alerts, /^- \[([\w-]+)\]\(\.\.\/terraform\/alerts\/\1\.md\)/gm).toSorted(),
    ).toEqual([...keys, 'objective-in-danger'].toSorted());
  });

  test('has every objective in its table', async () => {
    const { objectives } = await monitoring();

    expect(matches(operations, /^\| `([a-z-]+)` +\| \d+ %/gm).toSorted()).toEqual(
      objectives.toSorted(),
    );
  });

  test('sets every variable that its commands use', () => {
    const commands = matches(operations, /^```bash\n([\s\S]*?)^```/gm).join('\n');
    const read = matches(commands, /\bread -r ([A-Z_ ]+);/g).flatMap((names) => names.split(' '));
    const set = [...matches(commands, /(?:^|\s)([A-Z_]+)=/gm), ...read];
    const used = matches(commands, /\$\{?([A-Z_]+)/g);

    expect(used.length).toBeGreaterThan(10);
    expect(unique(used).filter((name) => !set.includes(name))).toEqual([]);
  });
});

describe.each([
  ['docs/deploy.md', deploy],
  ['docs/operations.md', operations],
  ['terraform/README.md', textOf('terraform/README.md')],
])('%s', (name, text) => {
  test('names commands that there are', () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(textOf('package.json')));

    const unknown = unique(matches(text, /npm run ([\w:]+)/g)).filter((one) => !(one in scripts));

    expect(unknown).toEqual([]);
  });

  test('names variables, settings and outputs that there are', () => {
    const settings = z.array(z.string()).parse(JSON.parse(textOf('terraform/settings.json')));
    const outputs = [
      ...module.outputs.map((one) => one.name),
      ...matches(textOf('terraform/environments/prod/outputs.tf'), /^output "(\w+)"/gm),
    ];
    const variables = module.variables.map((one) => one.name);
    // What is set of something else than the module.
    const elsewhere = ['name', 'condition', 'ttl', 'min_instances'];

    expect(
      unique(matches(text, /`([a-z_]+) = [^`]+`/g)).filter(
        (one) => ![...variables, ...elsewhere].includes(one),
      ),
    ).toEqual([]);
    expect(matches(text, /settings\.([A-Z_]+)/g).filter((one) => !settings.includes(one))).toEqual(
      [],
    );
    expect(
      matches(text, /terraform (?:-\S+ )?output (?:-raw )?(\w+)/g).filter(
        (one) => !outputs.includes(one),
      ),
    ).toEqual([]);
  });

  test('names resources of the module that there are', () => {
    const named = matches(text, /module\.recap\.(\w+\.\w+)/g);
    const addresses = module.resources.map(({ address }) => address);

    expect(named.filter((one) => !addresses.includes(one))).toEqual([]);
  });

  test('links to files and headings that there are', () => {
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-');
    const broken = matches(text, /\]\(([^)\s]+)\)/g)
      .filter((link) => !link.startsWith('http'))
      .filter((link) => {
        const [path = '', heading] = link.split('#');
        const file = path === '' ? join(root, name) : join(root, dirname(name), path);
        if (!existsSync(file)) return true;
        if (heading === undefined) return false;
        const headings = matches(readFileSync(file, 'utf8'), /^#+ (.+)$/gm).map(slug);
        return !headings.includes(heading);
      });

    expect(broken).toEqual([]);
  });
});
