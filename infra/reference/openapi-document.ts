import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { buildOpenApiDocument } from '#functions/chat/openapi/build-document.ts';

const chatRoutes = await loadRoutes();

/** The document that the service answers `GET /v1/openapi.json` with. */
export const servedDocument = () => buildOpenApiDocument(chatRoutes);

/** The text of `docs/reference/openapi.json`. */
export const openApiText = () => `${JSON.stringify(servedDocument(), null, 2)}\n`;
