/* blur_op.c: example:blur-1d, see operations.h. Rows or columns are copied out of the image with what is beside them, and go
 * through the kernel one by one. */
#include "../blur_kernel.h"
#include "operations.h"
#include "optimizer.h"

typedef struct BlurOp {
    GeglOperationAreaFilter parent;
    double deviation;
    GeglOrientation orientation;
    Optimizer *optimizer;
    float *weight; /* for the deviation; as long as that is the same it is at the same place */
    int size;
} BlurOp;

typedef struct BlurOpClass {
    GeglOperationAreaFilterClass parent;
} BlurOpClass;

G_DEFINE_TYPE(BlurOp, blur_op, GEGL_TYPE_OPERATION_AREA_FILTER)

enum { PROP_DEVIATION = 1, PROP_ORIENTATION, PROP_OPTIMIZER };

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    BlurOp *op = (BlurOp *)object;
    switch (id) {
    case PROP_DEVIATION:
        op->deviation = g_value_get_double(value);
        break;
    case PROP_ORIENTATION:
        op->orientation = g_value_get_enum(value);
        break;
    case PROP_OPTIMIZER:
        op->optimizer = g_value_get_pointer(value);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    const BlurOp *op = (BlurOp *)object;
    switch (id) {
    case PROP_DEVIATION:
        g_value_set_double(value, op->deviation);
        break;
    case PROP_ORIENTATION:
        g_value_set_enum(value, op->orientation);
        break;
    case PROP_OPTIMIZER:
        g_value_set_pointer(value, op->optimizer);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

const Babl *blur_format(int channels) {
    static const char *const name[] = {"Y float", "YaA float", "RGB float", "RaGaBaA float"};
    return babl_format(name[CLAMP(channels, 1, 4) - 1]);
}

static void prepare(GeglOperation *operation) {
    BlurOp *op = (BlurOp *)operation;
    GeglOperationAreaFilter *area = GEGL_OPERATION_AREA_FILTER(operation);
    const Babl *source = gegl_operation_get_source_format(operation, "input");
    const Babl *format = blur_format(source ? babl_format_get_n_components(source) : 4);
    bool along_rows = op->orientation == GEGL_ORIENTATION_HORIZONTAL;
    op->size = blur_size(op->deviation);
    op->weight = g_renew(float, op->weight, op->size);
    blur_weights(op->weight, op->deviation);
    int half = op->size / 2;
    area->left = area->right = along_rows ? half : 0;
    area->top = area->bottom = along_rows ? 0 : half;
    gegl_operation_set_format(operation, "input", format);
    gegl_operation_set_format(operation, "output", format);
}

/* The result is as large as the image. */
static GeglRectangle get_bounding_box(GeglOperation *operation) {
    const GeglRectangle *box = gegl_operation_source_get_bounding_box(operation, "input");
    return box ? *box : (GeglRectangle){0, 0, 0, 0};
}

static BlurLine *kernel_for(const BlurOp *op, int channels) {
    if (!op->optimizer)
        return blur_line;
    BinoptCfgRef cfg = optimizer_configure(op->optimizer, (BinoptFunc)blur_line);
    blur_configure(cfg, op->weight, op->size, channels);
    return (BlurLine *)optimizer_make(op->optimizer, cfg, (BinoptFunc)blur_line);
}

static gboolean process(GeglOperation *operation, GeglBuffer *input, GeglBuffer *output, const GeglRectangle *roi,
                        gint level) {
    (void)level;
    const BlurOp *op = (BlurOp *)operation;
    const Babl *format = gegl_operation_get_format(operation, "output");
    bool along_rows = op->orientation == GEGL_ORIENTATION_HORIZONTAL;
    int channels = babl_format_get_n_components(format), size = op->size;
    int length = along_rows ? roi->width : roi->height, lines = along_rows ? roi->height : roi->width;
    float *from = g_new(float, (length + size) * channels), *to = g_new(float, length *channels);
    BlurLine *kernel = kernel_for(op, channels);
    for (int i = 0; i < lines; i++) {
        GeglRectangle line = along_rows ? (GeglRectangle){roi->x, roi->y + i, length, 1}
                                        : (GeglRectangle){roi->x + i, roi->y, 1, length};
        GeglRectangle wider = along_rows ? (GeglRectangle){line.x - size / 2, line.y, length + size - 1, 1}
                                         : (GeglRectangle){line.x, line.y - size / 2, 1, length + size - 1};
        gegl_buffer_get(input, &wider, 1, format, from, GEGL_AUTO_ROWSTRIDE, GEGL_ABYSS_NONE);
        kernel(op->weight, size, channels, from, to, length);
        gegl_buffer_set(output, &line, 0, format, to, GEGL_AUTO_ROWSTRIDE);
    }
    if (op->optimizer)
        binopt_spec_delete(op->optimizer->handle, (BinoptFunc)kernel);
    g_free(from);
    g_free(to);
    return TRUE;
}

static void finalize(GObject *object) {
    g_free(((BlurOp *)object)->weight);
    G_OBJECT_CLASS(blur_op_parent_class)->finalize(object);
}

static void blur_op_init(BlurOp *op) {
    op->deviation = 1.5;
}

static void blur_op_class_init(BlurOpClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    GeglOperationClass *operation = GEGL_OPERATION_CLASS(class);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    operation->prepare = prepare;
    operation->get_bounding_box = get_bounding_box;
    operation->cache_policy = GEGL_CACHE_POLICY_NEVER;
    GEGL_OPERATION_FILTER_CLASS(class)->process = process;
    gegl_operation_class_set_keys(operation, "name", "example:blur-1d", "description",
                                  "Gaussian blur along rows or columns", NULL);
    g_object_class_install_property(
        object, PROP_DEVIATION,
        g_param_spec_double("std-dev", "Size", "Standard deviation in pixels", 0, 1500, 1.5, G_PARAM_READWRITE));
    g_object_class_install_property(object, PROP_ORIENTATION,
                                    g_param_spec_enum("orientation", "Orientation", "Along rows or columns",
                                                      GEGL_TYPE_ORIENTATION, GEGL_ORIENTATION_HORIZONTAL,
                                                      G_PARAM_READWRITE));
    g_object_class_install_property(
        object, PROP_OPTIMIZER,
        g_param_spec_pointer("optimizer", "Optimizer", "Makes the kernel, or NULL", G_PARAM_READWRITE));
}
