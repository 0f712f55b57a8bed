/** oidc-provider is loaded when it is first needed: 40 packages, which take half a second of the main thread. */
type Library = typeof import('oidc-provider');

let loading: Promise<Library> | undefined;

export function library(): Promise<Library> {
  loading ??= import('oidc-provider');
  return loading;
}
