import { streamResponse } from '#shared/wire/responses/messages.ts';
import { noBody, type ResponseMedia, type Route } from '../route.ts';

/** In which forms a route's success comes; none where it says nothing. */
export function responseMedia({ media, response }: Route): readonly ResponseMedia[] {
  if (media) return media;
  if (response === streamResponse) return ['text/event-stream'];
  return response === noBody ? [] : ['application/json'];
}
