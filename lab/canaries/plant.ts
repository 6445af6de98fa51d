import { createRandom, type Random } from '../chaos/random.ts';
import { turnsOf, slicesOf } from '../eval/run/eval-turns.ts';
import type { Recording } from '../eval/replay/recording.ts';
import type { Canary, Template } from './canary.ts';
import { isStated } from './survival.ts';
import { statementTemplates } from './statement-templates.ts';
import { valueTemplates } from './value-templates.ts';
import { draws, type Spellings } from './values.ts';

/** By type, in the order of the table. */
const templates: Readonly<Record<string, readonly Template[]>> = {
  ...valueTemplates,
  ...statementTemplates,
};

/** Of each type. */
export const MAXIMUM_EACH = Math.min(...Object.values(templates).map(({ length }) => length));

const ATTEMPTS = 100;
const placeholder = /\{(\w+)\}/gu;

const fill = (text: string, values: ReadonlyMap<string, Spellings>): string =>
  text.replaceAll(placeholder, (_, name: string) => values.get(name)?.[0] ?? '');

/** A wording with each spelling of the values in it. */
function spelled(wording: string, values: ReadonlyMap<string, Spellings>): string[] {
  const [whole, name] = /\{(\w+)\}/u.exec(wording) ?? [];
  if (whole === undefined || name === undefined) return [wording];
  return (values.get(name) ?? []).flatMap((value) =>
    spelled(wording.replace(whole, value), values),
  );
}

function fillTemplate(template: Template, random: Random): Omit<Canary, 'type'> {
  const { sentence, correction, question, needs, outdated } = template;
  const names = [...`${sentence} ${correction ?? ''}`.matchAll(placeholder)].map(
    ([, name]) => name,
  );
  const values = new Map(
    [...new Set(names)].map((name = '') => [name, draws[name]?.(random) ?? []] as const),
  );
  return {
    sentence: fill(sentence, values),
    question,
    needs: needs.map((wordings) => wordings.flatMap((wording) => spelled(wording, values))),
    ...(correction !== undefined && { correction: fill(correction, values) }),
    ...(outdated !== undefined && { outdated: fill(outdated, values) }),
  };
}

/** Draws until nothing that was said before says one of the values. */
function drawCanary(
  type: string,
  template: Template,
  said: { random: Random; text: string },
): Canary {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const canary = { type, ...fillTemplate(template, said.random) };
    const values = [...canary.needs.slice(0, 1), ...(canary.outdated ? [[canary.outdated]] : [])];
    if (!values.some((needs) => isStated({ needs: [needs] }, said.text))) return canary;
  }
  throw new Error(`every value drawn for a canary of the type ${type} stands in the conversation`);
}

const contentTexts = ({ turns }: Recording): string =>
  turns.flatMap(({ parts }) => parts.map((part) => part.text ?? JSON.stringify(part))).join('\n');

/** `each` canaries of every type, of values that the recording does not hold. */
export function drawCanaries(
  recording: Recording,
  { seed, each }: { seed: string; each: number },
): Canary[] {
  const random = createRandom(seed);
  let text = contentTexts(recording);
  return Object.entries(templates).flatMap(([type, own]) =>
    own.slice(0, each).map((template) => {
      const canary = drawCanary(type, template, { random, text });
      text += `\n${canary.sentence}\n${canary.correction ?? ''}`;
      return canary;
    }),
  );
}

export interface Cut {
  /** Compactions. */
  rounds: number;
  keepFraction: number;
}

const isUsers = ({ role, parts }: Recording['turns'][number]): boolean =>
  role === 'user' && parts.some(({ text }) => text !== undefined && text.trim() !== '');

/** Index of the first content that the first compaction leaves. */
function endOfFirstPart(recording: Recording, { rounds, keepFraction }: Cut): number {
  const turns = turnsOf(recording);
  const folded = slicesOf(turns, { count: rounds, keepFraction })[0]?.folded ?? 0;
  return turns[folded]?.firstIndex ?? recording.turns.length;
}

/** The recording with the sentences at the end of some messages, corrections behind what they correct. */
function plantAt(
  recording: Recording,
  canaries: readonly Canary[],
  { seed, places }: { seed: string; places: readonly number[] },
): Recording {
  const random = createRandom(`${seed}/places`);
  const added = new Map<number, string[]>();
  const add = (place: number, sentence: string): void => {
    const index = places[place] ?? 0;
    added.set(index, [...(added.get(index) ?? []), sentence]);
  };
  const half = Math.floor(places.length / 2);
  const order = canaries
    .map((canary) => ({ canary, key: random.next() }))
    .toSorted((a, b) => a.key - b.key);
  for (const [number, { canary }] of order.entries()) {
    const share = number / order.length;
    if (canary.correction === undefined) add(Math.floor(share * places.length), canary.sentence);
    else {
      add(Math.floor(share * half), canary.sentence);
      add(half + Math.floor(share * (places.length - half)), canary.correction);
    }
  }
  const turns = recording.turns.map((content, index) => {
    const sentences = added.get(index);
    if (sentences === undefined) return content;
    return { ...content, parts: [...content.parts, { text: sentences.join(' ') }] };
  });
  return { ...recording, turns };
}

/** Plants in the user's messages of the first part: as many of them as the part still holds with the sentences in it. */
export function plantCanaries(
  recording: Recording,
  canaries: readonly Canary[],
  { seed, ...cut }: Cut & { seed: string },
): Recording {
  const end = endOfFirstPart(recording, cut);
  const places = [...recording.turns.keys()].filter((index) => {
    const content = recording.turns[index];
    return index < end && content !== undefined && isUsers(content);
  });
  for (; places.length > 1; places.pop()) {
    const planted = plantAt(recording, canaries, { seed, places });
    if ((places.at(-1) ?? 0) < endOfFirstPart(planted, cut)) return planted;
  }
  throw new Error('the first part holds fewer than two messages of the user');
}
