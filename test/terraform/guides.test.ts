import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { terraformFolder } from './check-terraform.ts';
import { readModule, type Module } from './read-module.ts';
import { roleName } from './rights/given-rights.ts';
import { alertTexts, filesBelow, matches, monitoring, root, textOf, unique } from './texts.ts';

const deploy = textOf('docs/deploy.md');
const operations = textOf('docs/operations.md');

/** A predefined role, or the id of one that the module makes in `my-project` for the name `recap`. */
function roleId(role: unknown): string {
  const address = roleName(role);
  const own = module.resources.find((resource) => resource.address === address);
  if (own === undefined) return address;
  const id = String(own.body['role_id']).replace('${local.role_prefix}', 'recap');
  return `projects/my-project/roles/${id}`;
}

let module: Module;
beforeAll(async () => {
  module = await readModule(terraformFolder);
});

describe('docs/deploy.md', () => {
  test('has a row for every resource of the module, and none for another', () => {
    const rows = matches(deploy, /^\| `((?:google|time|terraform)_[\w.]+)`/gm);

    expect(rows.toSorted()).toEqual(module.resources.map(({ address }) => address).toSorted());
  });

  test('imports resources that the module has', () => {
    const imported = matches(deploy, /module\.recap\.(\w+\.\w+)/g);
    const addresses = module.resources.map(({ address }) => address);

    expect(imported.length).toBeGreaterThan(10);
    expect(imported.filter((address) => !addresses.includes(address))).toEqual([]);
  });

  test('lets who deploys give the roles that are given on projects, and no other', () => {
    const given = module.resources
      .filter(({ type }) => type === 'google_project_iam_member')
      .map(({ body }) => roleId(body['role']));
    const allowed = /hasOnly\(\[([^\]]*)\]/.exec(deploy)?.[1] ?? '';

    expect(matches(allowed, /'([\w./-]+)'/g)).toEqual(unique(given));
  });
});

// Firestore changes the indexes of a database one after another, and refuses ten changes at a time.
test.each(['README.md', 'docs/deploy.md', 'terraform/README.md'])(
  'each first apply in %s does two things at once',
  (name) => {
    const commands = matches(textOf(name), /^```bash\n([\s\S]*?)^```/gm).filter((block) =>
      /^terraform .*init/m.test(block),
    );
    const applies = commands.flatMap((block) => matches(block, /^terraform .*apply(.*)$/gm));

    expect(applies.length).toBeGreaterThan(0);
    expect(applies.filter((options) => !options.includes('-parallelism=2'))).toEqual([]);
  },
);

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
      .map(({ address, body }) => ({ address, role: roleId(body['role']).split('roles/').at(-1) }));
    const named = rights.map(({ address }) => ({
      address,
      role: matches(rowOf(address)[0] ?? '', /`([a-z]+\.[a-zA-Z]+|recap(?:_[a-z]+)+)`/g).join(),
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
    const keys = [...(await monitoring()).alerts, 'objective-in-danger'].toSorted();

    expect(alertTexts().toSorted()).toEqual(keys);
    expect(
      matches(alerts, /^- \[([\w-]+)\]\(\.\.\/terraform\/alerts\/\1\.md\)/gm).toSorted(),
    ).toEqual(keys);
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

  test('names variables and settings that there are', () => {
    const settings = z.array(z.string()).parse(JSON.parse(textOf('terraform/settings.json')));
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
        const headings = matches(textOf(relative(root, file)), /^#+ (.+)$/gm).map(slug);
        return !headings.includes(heading);
      });

    expect(broken).toEqual([]);
  });
});

test.each(['dev', 'prod'])(
  'outputs of Terraform that are named somewhere are outputs of environments/%s',
  async (environment) => {
    const files = filesBelow(['docs', 'infra', 'terraform', 'web/src'], /\.(?:md|tsx?|tf|tftpl)$/);
    const named = ['README.md', ...files].flatMap((file) =>
      matches(textOf(file), /terraform (?:-chdir=\S+ )?output (?:-\w+ )*(\w+)/g),
    );
    const { outputs } = await readModule(join(terraformFolder, 'environments', environment));
    const known = outputs.map(({ name }) => name);

    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((output) => !known.includes(output))).toEqual([]);
  },
);
