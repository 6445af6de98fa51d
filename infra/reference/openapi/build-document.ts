import { ON_BEHALF_OF } from '#functions/chat/http/authenticate.ts';
import type { Route } from '#functions/chat/route.ts';
import {
  allErrors,
  errorDetailSchema,
  errorSchema,
  facadeErrorSchema,
  hasFacadeErrors,
  streams,
} from './error-responses.ts';
import { toPaths, type Operation, describedTag, eventSchemas } from './path-item.ts';
import { toComponents, type JsonSchema } from './schemas.ts';

export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema>; [part: string]: unknown };
}

const INTRODUCTION = `The chat API of Recap, a serverless chat backend whose conversations never outgrow the model's context window.

JSON in camelCase, times in RFC 3339. The caller is who the Firebase ID token says; what belongs to somebody else is 404, never 403. Unknown fields of a request are refused, fields that a reply gains later are to be ignored. Where the deployment enforces App Check, every call carries \`X-Firebase-AppCheck\` as well.`;

const errorTable = () =>
  [
    '| HTTP | Status | Reason | Meaning |',
    '| --- | --- | --- | --- |',
    ...allErrors
      .toSorted((a, b) => a.httpStatus - b.httpStatus)
      .map(
        ({ httpStatus, status, reason, meaning }) =>
          `| ${httpStatus} | ${status} | \`${reason}\` | ${meaning} |`,
      ),
  ].join('\n');

const securitySchemes = {
  idToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The ID token of a user of Firebase Auth, anonymous ones included.',
  },
  serviceAccount: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'For servers of the app: the Google-signed ID token of a service account that `ADMIN_SERVICE_ACCOUNTS` lists, made out to `ADMIN_AUDIENCE`.',
  },
  onBehalfOf: {
    type: 'apiKey',
    in: 'header',
    name: ON_BEHALF_OF,
    description: 'The uid of the user that the server calls for, percent-encoded.',
  },
};

const headers = {
  RequestId: {
    description: 'Names the request in the logs of the service; quote it when you ask for help.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next try, where waiting helps.',
    schema: { type: 'integer' },
  },
};

/** The document: a path has one item with an operation a method. */
function pathItems(
  routes: readonly Route[],
  components: ReturnType<typeof toComponents>,
): OpenApiDocument['paths'] {
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes)
    for (const [path, operation] of toPaths(route, components))
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  return paths;
}

/** The OpenAPI 3.1 document of `routes`; depends on nothing that a deployment sets. */
export function buildOpenApiDocument(routes: readonly Route[]): OpenApiDocument {
  const components = toComponents(routes);
  const paths = pathItems(routes, components);
  const tags = new Set(
    Object.values(paths).flatMap((item) => Object.values(item).flatMap((each) => each.tags)),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Recap chat API',
      version: '1.0.0',
      description: `${INTRODUCTION}\n\n## Errors\n\n${errorTable()}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...tags].map(describedTag),
    security: [{ idToken: [] }, { serviceAccount: [], onBehalfOf: [] }],
    paths,
    components: {
      schemas: {
        ...components.schemas,
        ...eventSchemas(routes.filter(streams)),
        Error: errorSchema,
        ErrorDetail: errorDetailSchema,
        ...(routes.some(hasFacadeErrors) && { FacadeError: facadeErrorSchema }),
      },
      headers,
      securitySchemes,
    },
  };
}
