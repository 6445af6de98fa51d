import { z } from 'zod';
import { isRouted, type RoutingModels } from '#shared/routing/routing.ts';
import { list } from './config-values.ts';

/** Which of two models answers a turn of a conversation whose model is `auto`. Part of the environment's schema. */
export const routingVariables = {
  ROUTING_MODELS: list
    .pipe(z.union([z.tuple([]), z.tuple([z.string(), z.string()])]))
    .describe(
      'Two models with a comma between: the one that answers the easier messages of conversations whose model is `auto`, and the one that answers the harder ones. Without them no conversation can be `auto`.',
    ),
};

const schema = z.object(routingVariables);
type RoutingEnvironment = z.infer<typeof schema>;

/** The two models, where the deployment names them. */
export function readRoutingModels({
  ROUTING_MODELS: [fast, strong],
}: RoutingEnvironment): RoutingModels | undefined {
  return fast !== undefined && strong !== undefined ? { fast, strong } : undefined;
}

/** Variables that name one model which is called. */
export const calledModels = ['QUICK_MODEL', 'COMPRESSOR_MODEL'] as const;

/** What is wrong with the models of an environment, by variable. */
export function routingProblems(
  environment: RoutingEnvironment & {
    MODEL: string;
    QUICK_MODEL: string;
    COMPRESSOR_MODEL?: string | undefined;
  },
): { variable: string; message: string }[] {
  const { MODEL: model, ROUTING_MODELS: models } = environment;
  const message = 'must be the id of a model; only MODEL and conversations can be auto';
  return [
    ...(isRouted(model) && models.length === 0
      ? [{ variable: 'MODEL', message: 'is auto, which needs ROUTING_MODELS' }]
      : []),
    ...(models.some(isRouted) ? [{ variable: 'ROUTING_MODELS', message }] : []),
    ...calledModels
      .filter((variable) => isRouted(environment[variable] ?? ''))
      .map((variable) => ({ variable, message })),
  ];
}
