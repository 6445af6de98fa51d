import { runOps } from '#infra/ops/command-line.ts';
import { createScreen } from '#infra/ops/screen.ts';
import { refusedStates } from '#shared/compaction/outcome.ts';
import { terraformFolder } from './check-terraform.ts';
import { namesIn, readModule, type Module } from './read-module.ts';
import { alertTexts, filesBelow, functionsCode, matches, textOf } from './texts.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

/** As `documented` of terraform/monitoring.tf fills a text in, for the name `recap`. */
const documented: Readonly<Record<string, string>> = {
  project: 'my-project',
  region: 'us-central1',
  name: 'recap',
  chat: 'recap-chat',
  compaction: 'recap-compaction',
  database: '(default)',
  refused_states: refusedStates.map((state) => `"${state}"`).join(' OR '),
};

/** Cloud Monitoring takes no more: AlertPolicy.Documentation.content. */
const MAX_CHARACTERS = 8_192;

const PARTS = ['What it means', 'First look', 'What to do', 'When it is over'];

const texts = alertTexts().map((key) => {
  const raw = textOf(`terraform/alerts/${key}.md`);
  const text = raw.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => documented[name] ?? whole);
  return { key, raw, text, commands: matches(text, /^ {4}(\S.*)$/gm) };
});

const code = functionsCode();

let module: Module;
/** Names that resources of these types have, by the type. */
let names: (type: string) => string[];
beforeAll(async () => {
  module = await readModule(terraformFolder);
  names = (type) =>
    module.resources
      .filter((resource) => resource.type === type)
      .map(({ body }) => String(body['name']))
      .map((name) =>
        name
          .replace(/^\$\{local\.(chat|compaction)_name\}$/, 'recap-$1')
          .replace('${var.name}', documented['name'] ?? ''),
      );
});

/** What a command of gcloud names, and the type of what must have that name. */
const named: readonly [RegExp, string][] = [
  [/--service=(\S+)/, 'google_cloudfunctions2_function'],
  [/service_name="([^"]+)"/, 'google_cloudfunctions2_function'],
  [/run services \S+ (\S+)/, 'google_cloudfunctions2_function'],
  [/pubsub subscriptions \S+ (\S+)/, 'google_pubsub_subscription'],
  [/pubsub topics \S+ (\S+)/, 'google_pubsub_topic'],
  [/scheduler jobs \S+ (\S+)/, 'google_cloud_scheduler_job'],
  [/COMPACTION_TOPIC=(\S+)/, 'google_pubsub_topic'],
  [/EVENTS_TOPIC=(\S+)/, 'google_pubsub_topic'],
];

/** The exit code of the command line with these arguments, without a project: 2 where it does not know them. */
async function argumentsCode(command: string): Promise<number> {
  const args = command.replaceAll("'", '').split(' ').slice(4);
  const quiet = { out: () => undefined, err: () => undefined, isTerminal: false, nowMs: () => 0 };
  const open = () => Promise.reject(new Error('no project here'));
  return runOps(args, { screen: createScreen(quiet), open });
}

describe.each(texts)('the text of the alert $key', ({ raw, text, commands }) => {
  test('says what it means, where to look first, what to do and when it is over', () => {
    const parts = text.split(/^## /m).slice(1);

    expect(parts.map((part) => part.split('\n')[0])).toEqual(PARTS);
    expect(parts.map((part) => part.trim().split('\n').length > 2)).toEqual(PARTS.map(() => true));
    expect(parts[1]).toMatch(/^ {4}(?:gcloud|npm run ops) /m);
  });

  test('is what a notification shows as it is: short enough, no table and no fence', () => {
    expect(text.length).toBeLessThan(MAX_CHARACTERS);
    expect(text).not.toMatch(/^(?:\||```)/m);
  });

  test('is filled in by Terraform as a whole', () => {
    const known = namesIn(module.locals['documented']);

    expect(known.toSorted()).toEqual(Object.keys(documented).toSorted());
    expect(matches(raw, /\$\{(\w+)\}/g).filter((name) => !known.includes(name))).toEqual([]);
  });

  test('has commands on one line, of gcloud and of ops alone, on what there is', () => {
    const unknown = commands.flatMap((command) =>
      named.flatMap(([pattern, type]) =>
        matches(command, new RegExp(pattern, 'g')).filter((name) => !names(type).includes(name)),
      ),
    );

    expect(
      commands.filter((command) => !/^(?:gcloud|npm run ops --|export) /.test(command)),
    ).toEqual([]);
    expect(commands.filter((command) => /gcloud/.test(command)).join('\n')).not.toMatch(
      /gcloud (?!projects)(?:(?!--project=my-project).)*$/m,
    );
    expect(unknown).toEqual([]);
  });

  test('has commands of ops that its command line takes', async () => {
    const ops = commands.filter((command) => command.startsWith('npm run ops -- '));
    const codes = await Promise.all(ops.map((command) => argumentsCode(command)));

    expect(ops.filter((_, i) => codes[i] === 2)).toEqual([]);
  });

  test('asks for events and fields that the code logs', () => {
    const filters = commands.flatMap((command) => matches(command, /logging read '([^']*)'/g));
    const events = filters.flatMap((filter) =>
      matches(filter, /event=(\([^)]*\)|"\w+")/g).flatMap((list) => matches(list, /"(\w+)"/g)),
    );
    const fields = commands.flatMap((command) => matches(command, /jsonPayload\.(\w+)/g));

    expect(events.filter((event) => !code.includes(`'${event}'`))).toEqual([]);
    expect(fields.filter((field) => !new RegExp(String.raw`\b${field}\b`).test(code))).toEqual([]);
  });

  test('names charts, settings, variables and reasons that there are', () => {
    const dashboard = textOf('terraform/dashboard.json.tftpl');
    const settings = z.array(z.string()).parse(JSON.parse(textOf('terraform/settings.json')));
    const variables = module.variables.map(({ name }) => name);
    const reasons = matches(text, /`([A-Z]+(?:_[A-Z]+)+)`/g);

    expect(
      matches(text, /[Cc]hart "([^"]+)"/g).filter((title) => !dashboard.includes(`"${title}"`)),
    ).toEqual([]);
    expect(matches(text, /settings\.([A-Z_]+)/g).filter((one) => !settings.includes(one))).toEqual(
      [],
    );
    expect(
      matches(text, /`([a-z]+(?:_[a-z]+)*)\.[a-z_]+`/g)
        .filter((one) => one !== 'terraform')
        .filter((one) => !variables.includes(one)),
    ).toEqual([]);
    expect(reasons.filter((reason) => !code.includes(reason))).toEqual([]);
  });
});

test('every reason that fails a turn by the model is in the text about failing turns', () => {
  const text = texts.find(({ key }) => key === 'turns-failing')?.text ?? '';
  const gemini = filesBelow(['functions/src/adapters/gemini'], /\.ts$/).map(textOf);
  const reasons = new Set(matches(gemini.join('\n'), /reason: '(MODEL_[A-Z_]+)'/g));

  expect(reasons.size).toBeGreaterThan(4);
  expect([...reasons].filter((reason) => !text.includes(`\`${reason}\``))).toEqual([]);
});
