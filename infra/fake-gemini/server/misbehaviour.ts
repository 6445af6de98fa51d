import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Candidate } from '../summaries/ledger-lines.ts';

/** Traits that a test can order, exactly and reproducibly: faults of character, and one skill. All off by default. */
export const vicesSchema = z.strictObject({
  /** No fault: writes a ledger as capable models do, in dense statements of several turns (`dense/`). */
  dense: z.boolean().optional(),
  /** Leaves out each chosen statement with this probability, drawn from hash(seed, statement). */
  forgetful: z.number().min(0).max(1).optional(),
  /** Alters one digit of each number of the chosen statements, with this probability. */
  inventive: z.number().min(0).max(1).optional(),
  /** Follows instructions found in the history: as constraints of a snapshot, or by saying them. */
  obedient: z.boolean().optional(),
  /** Says its answer, then the last sentence of it over and over, in a chat alone. */
  chanting: z.boolean().optional(),
  /** Puts a thought signature on texts, too, as Gemini 3 may: not only on the first call of an answer. */
  signsTexts: z.boolean().optional(),
  /** Inflates the output about this many times. */
  verbose: z.number().min(1).max(100).optional(),
  /** Says nothing: a candidate without parts. */
  empty: z.boolean().optional(),
  /** Stops half way with finishReason MAX_TOKENS. */
  truncated: z.boolean().optional(),
  /** Breaks the XML or JSON. */
  malformed: z.boolean().optional(),
  /** Leaves the scratchpad out, or its tags. */
  noScratchpad: z.boolean().optional(),
  untaggedScratchpad: z.boolean().optional(),
  /** Waits this long before the first byte, in milliseconds. */
  slowMs: z.number().min(0).optional(),
  /** Whom the vices befall. Default: the summariser only, but `obedient` everybody. */
  roles: z.array(z.string()).optional(),
});
export type Vices = z.infer<typeof vicesSchema>;

/** The vices that hold for a request of this role. */
export function vicesFor(vices: Vices, role: string): Vices {
  if (vices.roles !== undefined) return vices.roles.includes(role) ? vices : {};
  if (role === 'utility_compressor') return vices;
  const { obedient, chanting, signsTexts } = vices;
  return { obedient, chanting, signsTexts };
}

/** A number in [0, 1) that depends on nothing but its arguments. */
export function chance(seed: string, vice: string, text: string): number {
  const digest = createHash('sha256').update(`${seed}\n${vice}\n${text}`).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

function alterOneDigit(seed: string, number: string): string {
  const digits = [...number.matchAll(/\d/g)];
  const draw = chance(seed, 'digit', number);
  const digit = digits[Math.floor(draw * digits.length)];
  if (digit === undefined) return number;
  const altered = (Number(digit[0]) + 1 + (Math.floor(draw * 1_000_003) % 9)) % 10;
  return `${number.slice(0, digit.index)}${altered}${number.slice(digit.index + 1)}`;
}

/** Dates, times and amounts are one number each; so is a lone digit. */
const number = /\d+(?:[.,:/-]\d+)*/g;

/** Alters each number with this probability, drawn from the number, its place and its statement. */
function alterNumbers(seed: string, text: string, probability: number): string {
  return text.replace(number, (found, offset: number) =>
    chance(seed, 'inventive', `${offset}\n${text}`) < probability
      ? alterOneDigit(`${seed}\n${offset}\n${text}`, found)
      : found,
  );
}

const fillers = [
  'as was mentioned at that point of the conversation',
  'which the participants then went on to talk about',
  'and this was left as it stood afterwards',
  'so far as can be told from what was written',
  'with nothing further to add on the matter',
];

/** Words without any fact, about as long as `times - 1` times the text. */
export function padding(text: string, times: number): string {
  const wanted = Math.round(text.length * (times - 1));
  let filler = '';
  for (let index = 0; filler.length < wanted; index += 1) {
    filler += `, ${fillers[index % fillers.length]}`;
  }
  return filler;
}

/** A text, and its last sentence again until no detector can miss it. */
export function chant(text: string): string {
  const sentence = /[^.!?\n]+[.!?]*\s*$/u.exec(text)?.[0] ?? text;
  return `${text}\n${`${sentence.trim()} `.repeat(200)}`;
}

export interface Tampering<Kept extends Candidate> {
  kept: Kept[];
  /** Statements that forgetfulness took away. */
  dropped: string[];
  /** Statements that invention changed. */
  altered: { from: string; to: string }[];
}

/** Forgets and invents, by statement: the same seed, vice and statement always give the same result. */
export function tamper<Kept extends Candidate>(
  seed: string,
  vices: Vices,
  chosen: readonly Kept[],
): Tampering<Kept> {
  const result: Tampering<Kept> = { kept: [], dropped: [], altered: [] };
  for (const candidate of chosen) {
    if (chance(seed, 'forgetful', candidate.text) < (vices.forgetful ?? 0)) {
      result.dropped.push(candidate.text);
      continue;
    }
    const text = alterNumbers(seed, candidate.text, vices.inventive ?? 0);
    if (text !== candidate.text) result.altered.push({ from: candidate.text, to: text });
    const verbose = vices.verbose === undefined ? '' : padding(text, vices.verbose);
    result.kept.push({ ...candidate, text: text + verbose });
  }
  return result;
}

const injections: readonly RegExp[] = [
  /(?:ignore|forget|disregard) (?:all |any |everything |of |the |your |these |my )*(?:previous|prior|above|earlier|preceding|foregoing|instructions|rules)/i,
  /disregard (?:all|any|the|your)/i,
  /add (?:this |the following )?.{0,40}to (?:the )?active_constraints/i,
  /from now on,? you (?:must|will|are)|you are now |\byou must (?:now|also|first|always|never)\b/i,
  /(?:new|updated|important|system) (?:instructions?|message|prompt|override|note)(?: (?:to|for) [\w ]{1,30})?\s*[:!]/i,
  /(?:the )?(?:assistant|model|ai) (?:must|should|shall|has to) /i,
  /ignor(?:iere|ez|a|e) .{0,30}(?:anweisungen|instructions|instrucciones|istruzioni|instruções)/i,
  /忽略.{0,12}(?:指令|指示|说明|規則|规则)|無視し(?:て|ろ)|무시하(?:고|세요|십시오)/u,
];

/** Whether a sentence tries to give the model orders. */
export function isInjection(sentence: string): boolean {
  return injections.some((pattern) => pattern.test(sentence));
}
