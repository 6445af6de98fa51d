import { REMOTE_POLICY_PATH } from '#functions/config/remote-documents.ts';
import { ArgumentError } from '#infra/command-line.ts';
import { readRemoteSettings, REMOTE_FIELDS } from '#shared/compaction/policy.ts';
import type { DocumentFields, Value } from '#shared/ports/ports.ts';
import { opsCommand, yesArg } from '../command.ts';
import { toTable, type Screen } from '../screen.ts';
import { z } from 'zod';

/** A field as the command line gives it; undefined: it is to go. */
type Change = readonly [name: string, value: Value | undefined];

/** Reads `thresholdTokens=20000`, `hooks=[…]`, `variants=`. Throws ArgumentError that names the field. */
function readChange(text: string): Change {
  const [, name = '', json = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (!REMOTE_FIELDS.includes(name))
    throw new ArgumentError(
      `${JSON.stringify(name === '' ? text : name)} is no field of ${REMOTE_POLICY_PATH}; give FIELD=JSON with one of ${REMOTE_FIELDS.join(', ')}`,
    );
  if (json === '' || json === 'null') return [name, undefined];
  try {
    return [name, z.json().parse(JSON.parse(json))];
  } catch {
    throw new ArgumentError(`${name} is no JSON: quote it for the shell, e.g. '${name}={"a":1}'`);
  }
}

/** What the functions would pass over of these fields. */
const unusableFields = (fields: DocumentFields): string[] => readRemoteSettings(fields).unusable;

/** Throws ArgumentError for values that the functions would pass over. */
function refuseUnusable(changes: readonly Change[]): void {
  const unusable = unusableFields(Object.fromEntries(changes));
  if (unusable.length > 0)
    throw new ArgumentError(
      `${unusable.join(', ')}: the functions would not use this value (docs/guides/operating-compaction.md says what they take)`,
    );
}

const shown = (value: unknown): string => (value === undefined ? '-' : JSON.stringify(value));

function tell(screen: Screen, before: DocumentFields, after: DocumentFields): void {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const unusable = unusableFields(after);
  screen.json({ before, after, unusable });
  if (names.length === 0) screen.print(`${REMOTE_POLICY_PATH} sets nothing`);
  else
    screen.print(
      toTable<string>(
        [
          { title: 'field', text: (name) => name },
          { title: 'now', text: (name) => shown(before[name]) },
          ...(before === after
            ? []
            : [{ title: 'then', text: (name: string) => shown(after[name]) }]),
        ],
        names,
      ),
    );
  if (unusable.length > 0) screen.print(`not used: ${unusable.join(', ')}`);
}

/** The document that changes settings of all conversations without a deployment, read as the functions read it. */
export const configCommand = opsCommand({
  name: 'config',
  description: `Shows what ${REMOTE_POLICY_PATH} sets (show), or changes it (set FIELD=JSON …; FIELD= takes one away).`,
  args: {
    action: { type: 'positional', required: true, description: 'show or set' },
    field: { type: 'positional', required: false, description: 'FIELD=JSON; more may follow' },
    ...yesArg,
  },
  takesMany: true,
  async run({ args, project, screen }) {
    const [action, ...texts] = args._;
    const isShown = action === 'show' && texts.length === 0;
    if (!isShown && (action !== 'set' || texts.length === 0))
      throw new ArgumentError('config takes show, or set with FIELD=JSON …');
    const changes = texts.map(readChange);
    refuseUnusable(changes);
    const { store } = project.chat;
    const [document] = await store.get([REMOTE_POLICY_PATH]);
    const before = document?.fields ?? {};
    if (isShown) {
      tell(screen, before, before);
      return 0;
    }
    const merged = Object.entries({ ...before, ...Object.fromEntries(changes) });
    const after = Object.fromEntries(merged.filter(([, value]) => value !== undefined));
    tell(screen, before, after);
    if (!args.yes) {
      screen.print('--yes does it');
      return 0;
    }
    const fields = Object.fromEntries(changes.filter(([, value]) => value !== undefined));
    const remove = changes.flatMap(([name, value]) => (value === undefined ? [name] : []));
    const path = REMOTE_POLICY_PATH;
    await store.commit([
      document
        ? { op: 'update', path, fields, remove, guard: { updateTime: document.updateTime } }
        : { op: 'create', path, fields },
    ]);
    screen.print('done; in force within a minute');
    return 0;
  },
});
