import { contentText, lastQuestionIndex, type RequestContent } from '../server/request.ts';
import { splitSentences } from './sentences.ts';

const questionMark = /[?？]["'”’)\]]?$/u;
/** Words of four letters and more, and numbers: shorter ones stand in every sentence. */
const word = /[\p{L}\p{M}\p{N}]{4,}|\p{N}+/gu;

const isQuestion = (sentence: string): boolean => questionMark.test(sentence);
const wordsIn = (text: string): Set<string> => new Set(text.toLowerCase().match(word));

/** Among sentences that share as much with a question, the shorter one answers it. */
const LONG_CHARACTERS = 2_000;

/** The sentence that shares most with the question, rare words before common ones; the newest among equals. */
function bestSentence(sentences: readonly string[], question: string): string | undefined {
  const asked = wordsIn(question);
  const sharedWords = sentences.map((sentence) =>
    [...wordsIn(sentence)].filter((each) => asked.has(each)),
  );
  const counts = Map.groupBy(sharedWords.flat(), (each) => each);
  const weight = (each: string): number =>
    Math.log(1 + sentences.length / (counts.get(each)?.length ?? 1));
  let best: string | undefined;
  let bestScore = Number.MIN_VALUE;
  for (const [index, sentence] of sentences.entries()) {
    const sum = (sharedWords[index] ?? []).reduce((total, each) => total + weight(each), 0);
    const score = sum / (1 + sentence.length / LONG_CHARACTERS);
    if (score < bestScore) continue;
    best = sentence;
    bestScore = score;
  }
  return best;
}

/**
 * What an honest model with no other knowledge says: to a question the sentence of the prompt that shares most words
 * with it, verbatim, or "I do not know."; to anything else "Noted.". What a compaction lost is seen to be lost.
 */
export function answerFromContext(contents: readonly RequestContent[]): string {
  const questionIndex = lastQuestionIndex(contents);
  const questions = splitSentences(contentText(contents[questionIndex])).filter(isQuestion);
  if (questions.length === 0) return 'Noted.';
  const sentences = contents
    .toSpliced(questionIndex, 1)
    .flatMap((content) => splitSentences(contentText(content)))
    .filter((sentence) => !isQuestion(sentence));
  return bestSentence(sentences, questions.join(' ')) ?? 'I do not know.';
}
