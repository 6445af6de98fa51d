import { recall } from '#shared/recall/recall.ts';
import type { Excerpt } from '#shared/recall/excerpts.ts';
import { passagesOfTurns, segmentOfPassages } from '#shared/recall/segment.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';
import { turnsOf, type RecordedTurn } from '../compact/recorded-turns.ts';
import type { Recording } from '../replay/recording.ts';

/** UTF-16 units that automatic recall may show. */
const ROOMS = [800, 1_500] as const;
type Room = `${(typeof ROOMS)[number]}`;

/** Share of a conversation's contents that counts as folded. */
const FOLDED_FRACTION = 0.7;

/** Day and speaker of a record. */
const LABEL_CHARACTERS = 18;

const textOf = ({ parts }: RecordedTurn['user']) => parts.map(({ text = '' }) => text).join('\n');

/** The contents before `end` as the worker indexes them. */
function textsOf(
  { user, contents, firstIndex, at }: RecordedTurn,
  index: number,
  end: number,
): TurnTexts {
  const folded = contents.slice(0, Math.max(0, end - firstIndex - 1));
  const seq = index + 1;
  const messages = [
    { id: `u_${seq}`, role: 'user' as const, text: textOf(user), time: at },
    { id: `m_${seq}`, role: 'model' as const, text: folded.map(textOf).join('\n'), time: at },
  ];
  return {
    seq,
    inContext: true,
    isReplaced: false,
    messages: messages.filter(({ text }) => text !== ''),
    tools: '',
  };
}

function roomOf(characters: number): (excerpt: Excerpt) => boolean {
  let left = characters;
  return ({ text }) => {
    const length = text.length + LABEL_CHARACTERS;
    if (length > left) return false;
    left -= length;
    return true;
  };
}

interface EvidenceFigure {
  questions: number;
  /** Of how many a message of the evidence is among the excerpts. */
  shown: Record<Room, number>;
}

/** Asks each question whose evidence is folded as the message of a turn. */
export function evidenceOf(recordings: readonly Recording[]): EvidenceFigure {
  const figure: EvidenceFigure = { questions: 0, shown: { 800: 0, 1500: 0 } };
  for (const recording of recordings) {
    const end = FOLDED_FRACTION * recording.turns.length;
    const turns = turnsOf(recording).filter(({ firstIndex }) => firstIndex < end);
    const texts = turns.map((turn, index) => textsOf(turn, index, Math.ceil(end)));
    const now = turns.at(-1)?.at ?? new Date(0);
    const segments = [segmentOfPassages(passagesOfTurns(texts))];
    for (const { question, answer, category, evidenceTurnIndexes } of recording.probes ?? []) {
      if (!answer || category === 'adversarial' || !evidenceTurnIndexes?.length) continue;
      if (Math.max(...evidenceTurnIndexes) >= end) continue;
      figure.questions += 1;
      const said = evidenceTurnIndexes.map((index) => {
        const turn = turns.findLastIndex(({ firstIndex }) => firstIndex <= index);
        return `${turn + 1}/${turns[turn]?.firstIndex === index ? 'user' : 'model'}`;
      });
      for (const room of ROOMS) {
        const excerpts = recall({
          message: question,
          now,
          segments,
          throughSeq: turns.length,
          hidden: new Set(),
          known: [],
          hasRoomFor: roomOf(room),
        });
        if (excerpts.some(({ seq, role }) => said.includes(`${seq}/${role}`)))
          figure.shown[`${room}`] += 1;
      }
    }
  }
  return figure;
}

/** As shares, three decimals. */
export const evidenceShares = ({ questions, shown }: EvidenceFigure): Record<Room, number> => ({
  800: Math.round((1_000 * shown[800]) / Math.max(1, questions)) / 1_000,
  1500: Math.round((1_000 * shown[1500]) / Math.max(1, questions)) / 1_000,
});
