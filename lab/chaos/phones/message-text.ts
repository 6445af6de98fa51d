import { createHash } from 'node:crypto';
import type { RecordedAnswer } from '#infra/fake-gemini/server/recorded-answers.ts';
import type { Random } from '../random.ts';

const sentences = [
  'The parcel should be wrapped with care and handed over in person.',
  'Please remember that the bell does not ring and that the dog is friendly.',
  'The invoice goes to the office, the goods go to the warehouse.',
  'If nobody is at home, the neighbour on the second floor takes it.',
  'I would like a receipt for each of them, with the date on it.',
  '다음 주 화요일에 다시 연락해 주세요.',
  'Der Aufzug ist außer Betrieb, bitte die Treppe nehmen. 🙂',
];

/** Sentences of a usual message, about 15 tokens each; two long ones cross every threshold of a run. */
const usualLength = { min: 4, max: 20 };
const longLength = { min: 55, max: 70 };

/** What a person writes: an order number that occurs nowhere else, and some words around it. */
export function messageText(random: Random, count: number, isLong = false): string {
  const { min, max } = isLong ? longLength : usualLength;
  const order = `ORD-${random.integer(1_000_000_000, 9_999_999_999)}${count}`;
  const words = Array.from({ length: random.integer(min, max) }, () => random.pick(sentences));
  return `Message ${count}: order ${order} goes to door ${random.integer(1, 99)}. ${words.join(' ')}`;
}

/** More attempts than a turn has. */
const ATTEMPTS = 6;

/** Mostly short; some are long enough for a stream that is cut several times. */
const answerWords = (random: Random): string =>
  Array.from({ length: random.chance(0.3) ? random.integer(6, 14) : 2 }, () =>
    random.pick(sentences),
  ).join(' ');

/**
 * What the fake Gemini is to answer: other words in every attempt, so that an answer that is not the stored
 * one can be told from it.
 */
export function answersTo(text: string, random: Random): RecordedAnswer[] {
  const userHash = createHash('sha256').update(text).digest('hex');
  return Array.from({ length: ATTEMPTS }, (_, index) => ({
    userHash,
    ordinal: index + 1,
    contents: [
      {
        role: 'model',
        parts: [
          {
            text: `Answer ${random.uuid()}, attempt ${index + 1}. ${answerWords(random)}`,
          },
        ],
      },
    ],
  }));
}

const CANARY = /ORD-\d{10,}|Answer [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The words of a text that nobody else says: order numbers, and what an answer begins with. */
export const canariesIn = (text: string): string[] => text.match(CANARY) ?? [];
