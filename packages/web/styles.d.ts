/** The bundler takes style sheets that a page imports. */
declare module "*.css";
