import { z } from 'zod';
import { isRouted, routeSchema, type RoutingModels } from '#shared/routing/routing.ts';

/** Which of two models answers a turn of a conversation whose model is `auto`. Part of the environment's schema. */
export const routingVariables = {
  ROUTING_FAST_MODEL: z
    .string()
    .optional()
    .describe(
      'Model that answers the easier messages of conversations whose model is `auto`; with ROUTING_STRONG_MODEL, or neither: then no conversation can be `auto`.',
    ),
  ROUTING_STRONG_MODEL: z
    .string()
    .optional()
    .describe('Model that answers the harder messages of conversations whose model is `auto`.'),
  ROUTING_CLASSIFIER_MODEL: z
    .string()
    .default('gemini-3.1-flash-lite')
    .describe('Model that chooses between the two, once a turn: a cheap and quick one.'),
  ROUTING_DEFAULT: routeSchema
    .default('fast')
    .describe(
      'Which of the two answers where the classifier fails or takes longer than two seconds.',
    ),
};

const schema = z.object(routingVariables);
type RoutingEnvironment = z.infer<typeof schema>;

/** The two models, where the deployment names them. */
export const readRoutingModels = ({
  ROUTING_FAST_MODEL: fast,
  ROUTING_STRONG_MODEL: strong,
}: RoutingEnvironment): RoutingModels | undefined =>
  fast !== undefined && strong !== undefined ? { fast, strong } : undefined;

/** Variables that name one model which is called; none of them can be `auto`. */
export const calledModels = [
  'ROUTING_FAST_MODEL',
  'ROUTING_STRONG_MODEL',
  'ROUTING_CLASSIFIER_MODEL',
  'TITLE_MODEL',
  'CONDENSING_MODEL',
  'COMPRESSOR_MODEL',
] as const;

/** What is wrong with the models of an environment, by variable. */
export function routingProblems(
  environment: RoutingEnvironment &
    Record<'MODEL' | 'TITLE_MODEL' | 'CONDENSING_MODEL', string> & {
      COMPRESSOR_MODEL?: string | undefined;
    },
): { variable: string; message: string }[] {
  const { ROUTING_FAST_MODEL: fast, ROUTING_STRONG_MODEL: strong, MODEL: model } = environment;
  const both = 'must be set: ROUTING_FAST_MODEL and ROUTING_STRONG_MODEL go together';
  const message = 'must be the id of a model; only MODEL and conversations can be auto';
  return [
    ...(fast === undefined && strong !== undefined
      ? [{ variable: 'ROUTING_FAST_MODEL', message: both }]
      : []),
    ...(strong === undefined && fast !== undefined
      ? [{ variable: 'ROUTING_STRONG_MODEL', message: both }]
      : []),
    ...(isRouted(model) && fast === undefined && strong === undefined
      ? [
          {
            variable: 'MODEL',
            message: 'is auto, which needs ROUTING_FAST_MODEL and ROUTING_STRONG_MODEL',
          },
        ]
      : []),
    ...calledModels
      .filter((variable) => isRouted(environment[variable] ?? ''))
      .map((variable) => ({ variable, message })),
  ];
}
