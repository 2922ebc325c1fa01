/* operations.h: operations of ours for GEGL, to be compared with GEGL's own.
 *
 *     example:blur-1d     std-dev, orientation as gegl:gblur-1d with filter "fir" and abyss-policy "none"
 *     example:bilateral   blur-radius (an integer), edge-preservation as gegl:bilateral-filter
 *
 * Both are as anybody would write them with GEGL's area filters, but for the property "optimizer" (optimizer.h), by which the
 * kernel is made for the settings of this run before it is called. */
#ifndef EXAMPLES_GEGL_OPERATIONS_H
#define EXAMPLES_GEGL_OPERATIONS_H

#include <gegl-plugin.h>
#include <gegl.h>

GType blur_op_get_type(void);
GType bilateral_op_get_type(void);

/* The format in which a blur works on images of that many channels: linear light, alpha multiplied in. */
const Babl *blur_format(int channels);

#endif
