import { AnswerMissingError, type Ask } from '../eval/answers/ask-recorded.ts';
import { artifactText, artifactTokens, messageTokens } from './artifact.ts';
import type { Case, Item } from './cases.ts';
import type { Compact } from './methods.ts';
import { fill, readSource, returnedText } from './python-texts.ts';
import { scoreCycle, type MeasuredCycle } from './score.ts';

/** The texts in which CompactBench asks the model that sees an artifact. */
interface EvaluationTexts {
  /** Before the questions, with `{sanitized}`. */
  artifact: string;
  /** With `{item.prompt}`. */
  question: string;
  /** With `{context}` and `{user_content}`. */
  continuation: string;
}

export async function readEvaluationTexts(checkout: string): Promise<EvaluationTexts> {
  const evaluation = await readSource(checkout, 'runner/evaluation.py');
  const continuation = await readSource(checkout, 'runner/continuation.py');
  return {
    artifact: returnedText(evaluation, 'build_evaluation_cached_prefix'),
    question: returnedText(evaluation, 'build_evaluation_item_suffix'),
    continuation: returnedText(continuation, 'build_continuation_prompt'),
  };
}

const answersHint =
  'Answer each question as if it were asked alone. Write "## KEY" on a line of its own before each answer.';

/** The answers below their headings `## KEY`. */
function splitAnswers(text: string): Map<string, string> {
  const sections = text.split(/^## /mu).slice(1);
  return new Map(
    sections.map((section) => {
      const [key = '', ...lines] = section.split('\n');
      return [key.trim(), lines.join('\n').trim()];
    }),
  );
}

/** All questions of a cycle in one prompt. */
function questionsPrompt(texts: EvaluationTexts, context: string, items: readonly Item[]): string {
  const questions = items.map(({ key, prompt }) => {
    const text = fill(texts.question, { 'item.prompt': prompt });
    return `## ${key}\n${text}`;
  });
  return `${fill(texts.artifact, { sanitized: context })}${questions.join('\n\n')}\n\n${answersHint}`;
}

interface Measure {
  texts: EvaluationTexts;
  ask: Ask;
  compact: Compact;
  beforeCycle: (cycle: number) => void;
}

export type MeasuredArtifact = MeasuredCycle & { refusal?: string };

/**
 * Compacts a case, asks its questions of what is left, lets the conversation go on from there, and again for every
 * cycle. Ends early, with the cycles so far, where an answer is missing.
 */
export async function runCase(wanted: Case, measure: Measure): Promise<MeasuredArtifact[]> {
  const { texts, ask, compact, beforeCycle } = measure;
  const cycles: MeasuredArtifact[] = [];
  let { messages } = wanted;
  let context = '';
  try {
    for (const [cycle, said] of [undefined, ...wanted.continuations].entries()) {
      beforeCycle(cycle);
      if (said !== undefined) {
        const text = fill(texts.continuation, { context, user_content: said });
        const content = await ask({ kind: 'continuation', text });
        messages = [...messages, { role: 'user', content: said }, { role: 'assistant', content }];
      }
      const artifact = await compact(messages);
      context = artifactText(artifact);
      const text = questionsPrompt(texts, context, wanted.items);
      const answers = splitAnswers(await ask({ kind: 'questions', text }));
      cycles.push({
        ...scoreCycle(wanted, answers),
        sourceTokens: messageTokens(messages),
        contextTokens: artifactTokens(artifact),
        ...(artifact.refusal !== undefined && { refusal: artifact.refusal }),
      });
    }
  } catch (error) {
    if (!(error instanceof AnswerMissingError)) throw error;
  }
  return cycles;
}
