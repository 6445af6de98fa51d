import { createHash } from 'node:crypto';
import { contentText, type Content, type Part } from '#shared/models/content.ts';
import type { ModelRequest, ModelResponse } from '#shared/ports/ports.ts';

/** Stands word for word in every prompt of a conversation that began with it. */
export const PIN = 'The user is allergic to hazelnuts.';

const QUESTION =
  'Please tell me what there is to see around the old harbour, which paths are quiet in the evening, and what we ought to bring along when the weather turns cold and the wind comes from the sea.';

const ANSWER =
  'The harbour has a long pier with benches, a small market under the arches and a path along the river that few people know; bring something warm and good shoes, and turn back before the lamps go out.';

/** Names of questions and answers: they tell where a turn stands in a prompt or in a snapshot. */
export const questionMark = (name: string) => `q-${name}-mark`;
export const answerMark = (name: string) => `a-${name}-mark`;

export const questionText = (name: string) => `Remember ${questionMark(name)}. ${QUESTION}`;
export const answerText = (name: string) => `Noted ${answerMark(name)}. ${ANSWER}`;

const MARK = /\b[qa]-[a-z]+-mark\b/g;

/** What the title of a topic names a turn by: another mark, since a context names each question once. */
const topicMark = (mark: string) => mark.replace(/^q-(.*)-mark$/, 't-$1');
const TOPIC_MARK = /\bt-([a-z]+)\b/g;
/** The marks of the questions that topics in a text name. */
export const topicMarksIn = (text: string): string[] =>
  [...text.matchAll(TOPIC_MARK)].map(([, name = '']) => questionMark(name));
/** More have no room in a title. */
const TOPIC_MARKS_MAX = 2;

/** The marks in a text, each as often as it stands there. */
export const marksIn = (text: string): string[] => text.match(MARK) ?? [];

const textOf = (contents: readonly Content[]) => contents.map(contentText).join('\n');

/** Letters only: a number would be a fact that a summary has to keep. */
const fingerprint = (contents: readonly Content[]) =>
  createHash('sha256')
    .update(JSON.stringify(contents))
    .digest('hex')
    .slice(0, 12)
    .replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '');

/** The newest content in which the user says something: in a round of calls it is not the last one. */
const questionIndex = (contents: readonly Content[]) =>
  contents.findLastIndex(({ role, parts }) => role === 'user' && parts.some(({ text }) => text));

function askedName(contents: readonly Content[]): string {
  const question = contents[questionIndex(contents)];
  // Before it may stand what recall brought back of others.
  const marks = [...(question ? contentText(question) : '').matchAll(/q-([a-z]+)-mark/g)];
  return marks.at(-1)?.[1] ?? 'none';
}

/** What the chat model says: the mark of the question and a fingerprint of all that it was shown. */
export function chatAnswer({ contents }: Pick<ModelRequest, 'contents'>): string {
  return `${answerText(askedName(contents))} Seen: ${fingerprint(contents)}.`;
}

/** Rounds of calls that a question asks for whose name begins with `tool`. */
const TOOL_ROUNDS = 2;

/** The calls that the chat model makes before it answers; none for most questions. */
export function chatCalls({ contents }: Pick<ModelRequest, 'contents'>): Part[] {
  const since = contents.slice(questionIndex(contents) + 1);
  const done = since.filter(({ parts }) => parts.some(({ functionCall }) => functionCall)).length;
  const name = askedName(contents);
  if (name.startsWith('app')) return done > 0 ? [] : callsOf(['locate', 'choose'], done);
  return name.startsWith('tool') && done < TOOL_ROUNDS ? callsOf(['look', 'ask'], done) : [];
}

const callsOf = (names: readonly string[], round: number): Part[] =>
  names.map((name) => ({ functionCall: { name, args: { round } } }));

/** What was talked about in turns without marks: shorter is no summary. */
const WALK = 'a walk along the river to the old harbour, and back in the evening';

/** As short as a summary can be: every token of it delays the next crossing. */
const snapshotOf = (knowledge: string) =>
  `<state_snapshot><overall_goal>Plan a walk.</overall_goal><active_constraints></active_constraints><key_knowledge>${knowledge}</key_knowledge><artifact_trail></artifact_trail><file_system_state></file_system_state><recent_actions></recent_actions><task_state></task_state></state_snapshot>`;

/** One item for each marked turn that is shown, or a goal; those of earlier turns are known. All of them are one topic. */
function ledgerAnswer(text: string): { operations: object[]; topics: object[] } {
  const marks = new Map<number, Set<string>>();
  let turn = 0;
  for (const [, number, said = ''] of text.matchAll(
    /^(?:\[(\d+)\] )?(?:user|model|tool): (.*)$/gm,
  )) {
    if (number !== undefined) turn = Number(number);
    for (const mark of marksIn(said)) marks.set(turn, (marks.get(turn) ?? new Set()).add(mark));
  }
  const first = Number(/^\[(\d+)\] \w/m.exec(text)?.[1] ?? 1);
  const goal = { op: 'add', section: 'overall_goal', text: 'Plan a walk.', sources: [first] };
  const items = [...marks].map(([seq, said]) => ({
    op: 'add',
    section: 'key_knowledge',
    text: [...said].join(' '),
    sources: [seq],
  }));
  const seqs = [...marks.keys()];
  const questions = [...marks.values()].flatMap((said) =>
    [...said].filter((mark) => mark.startsWith('q')),
  );
  const title = questions.slice(0, TOPIC_MARKS_MAX).map(topicMark).join(' ') || 'Walks';
  const [from = first] = seqs;
  return {
    operations: items.length > 0 ? items : [goal],
    topics: [{ title, from, through: seqs.at(-1) ?? first }],
  };
}

/**
 * A summary that names every mark of what it was given, in the format that is asked for, and passes the
 * verification.
 */
export function summaryAnswer({
  contents,
  responseJsonSchema,
}: Pick<ModelRequest, 'contents' | 'responseJsonSchema'>): ModelResponse {
  const text = textOf(contents);
  const marks = [...new Set(marksIn(text))];
  return {
    parts: [
      {
        text:
          responseJsonSchema === undefined
            ? snapshotOf(`Talked about: ${marks.join(', ') || WALK}.`)
            : JSON.stringify({ scratchpad: '', ...ledgerAnswer(text) }),
      },
    ],
    finishReason: 'STOP',
    usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 50, thoughtsTokens: 0 },
  };
}
