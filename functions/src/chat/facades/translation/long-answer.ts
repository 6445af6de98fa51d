import { badField } from '#shared/lib/errors.ts';
import type { Config } from '#functions/config.ts';
import {
  type ModelsConfig,
  answeringModel,
  knownModels,
  modelWindowTokens,
} from '#functions/models/models-in-use.ts';
import { findModel } from '#shared/models/model-entry.ts';
import { isRouted } from '#shared/models/routing.ts';

type LongAnswerConfig = ModelsConfig & Pick<Config, 'routing'>;

/**
 * Throws BAD_FIELD (400) where more tokens are asked for than an answer of the model may have: the model would refuse
 * that with each call. `model`: as the conversation names it, `auto` too. `field` names the wish as the client did.
 */
export function refuseLongAnswer(
  config: LongAnswerConfig,
  asked: { model: string; field: string; maxOutputTokens: number | null | undefined },
): void {
  const { model: named, field, maxOutputTokens } = asked;
  if (typeof maxOutputTokens !== 'number') return;
  const names = isRouted(named) ? Object.values(config.routing ?? {}) : [named];
  for (const name of names) {
    const model = answeringModel(config, name);
    const limit =
      findModel(knownModels(config), model)?.outputTokens ?? modelWindowTokens(config, model);
    if (maxOutputTokens <= limit) continue;
    throw badField(
      field,
      `\`${field}\` may be at most ${limit}: an answer of ${model} has no more tokens. Ask for less, or leave it out.`,
    );
  }
}
