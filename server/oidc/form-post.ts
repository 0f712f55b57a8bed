/** The library's provider, whose answers by form (response_mode=form_post) are a page of ours. */
import type { Provider } from 'oidc-provider';
import type { library } from './library.ts';

type Library = Awaited<ReturnType<typeof library>>;
type ResponseMode = Parameters<Provider['registerResponseMode']>[1];

/** A response mode that is there is not replaced: the library registers its own while a provider is made. */
export function withFormPost({ Provider }: Library, formPost: ResponseMode): typeof Provider {
  return class extends Provider {
    override registerResponseMode(name: string, handler: ResponseMode): void {
      super.registerResponseMode(name, name === 'form_post' ? formPost : handler);
    }
  };
}
